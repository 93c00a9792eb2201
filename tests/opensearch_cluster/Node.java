import org.codelibs.opensearch.runner.OpenSearchRunner;

/** One node of a cluster on this machine: NUMBER HTTP-PORT TRANSPORT-PORT SEEDS FIRST-LEADERS FOLDER. */
public class Node {
    public static void main(String[] args) throws Exception {
        OpenSearchRunner runner = new OpenSearchRunner();
        runner.onBuild((number, settings) -> {
            settings.put("node.name", "node-" + args[0]);
            settings.put("http.port", Integer.parseInt(args[1]));
            settings.put("transport.port", Integer.parseInt(args[2]));
            settings.put("network.host", "127.0.0.1");
            settings.putList("discovery.seed_hosts", args[3].split(","));
            settings.putList("cluster.initial_cluster_manager_nodes", args[4].split(","));
            settings.put("cluster.routing.allocation.disk.threshold_enabled", false);
            // A node that is gone is noticed soon.
            settings.put("cluster.fault_detection.follower_check.interval", "1s");
            settings.put("cluster.fault_detection.follower_check.timeout", "5s");
        });
        runner.build(OpenSearchRunner.newConfigs().clusterName("triplebeam").numOfNode(1).basePath(args[5])
            .useLogger().pluginTypes("org.opensearch.knn.plugin.KNNPlugin"));
        Thread.currentThread().join();
    }
}
