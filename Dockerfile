# The server, as a user of its own, with the weights of its models in the image: it fetches nothing when it runs.
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/triplebeam \
 && /opt/triplebeam/bin/pip install --no-cache-dir '.[server,mcp,office,rst]'

FROM python:3.12-slim
RUN useradd --create-home --uid 1000 triplebeam && install --directory --owner triplebeam /data
COPY --from=build /opt/triplebeam /opt/triplebeam
# The home is read-only in compose.yaml: replies of models, and documents of indexes on OpenSearch, are kept in /data.
ENV PATH=/opt/triplebeam/bin:$PATH PYTHONUNBUFFERED=1 \
    TRIPLEBEAM_COMPLETIONS=/data/.triplebeam/completions.sqlite TRIPLEBEAM_STATE=/data/.triplebeam/state
USER 1000
RUN triplebeam doctor --install
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health')"]
# Reached from outside its container, it serves nobody without a key: see docs/serving.md.
ENTRYPOINT ["triplebeam"]
CMD ["serve", "/data", "--host", "0.0.0.0", "--port", "8000"]
