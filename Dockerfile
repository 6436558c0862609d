# syntax=docker/dockerfile:1
# Mafteach as an image: one for the service, the worker and the set-up. Multi-stage: nothing that builds ships.
FROM python:3.12-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
RUN python -m venv /opt/mafteach
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY search_config search_config
COPY models models
COPY ingest ingest
COPY query query
COPY evaluation evaluation
COPY api api
# EXTRAS: comma-separated, such as ocr,otel (pyproject.toml names them all).
ARG EXTRAS=ocr,otel
RUN /opt/mafteach/bin/pip install --constraint constraints.txt ".[${EXTRAS}]"


FROM python:3.12-slim-bookworm

# Scanned pages are recognised by Tesseract.
RUN apt-get update \
 && apt-get install --yes --no-install-recommends tesseract-ocr tesseract-ocr-eng tesseract-ocr-heb \
 && rm -rf /var/lib/apt/lists/*

# The number that OpenSearch's image runs as too, so that both read the key in the volume of certificates.
RUN groupadd --gid 1000 mafteach \
 && useradd --uid 1000 --gid 1000 --no-create-home --home-dir /data --shell /usr/sbin/nologin mafteach \
 && install --directory --owner=1000 --group=1000 --mode=0700 /data /cache \
 && install --directory --owner=1000 --group=1000 --mode=0755 /certs /ca

COPY --from=build /opt/mafteach /opt/mafteach

ENV PATH=/opt/mafteach/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    MPLCONFIGDIR=/tmp/matplotlib \
    MAFTEACH_CACHE_DIR=/cache \
    MAFTEACH_DATA_DIR=/data \
    MAFTEACH_HOST=0.0.0.0 \
    MAFTEACH_PORT=8080

USER 1000:1000
WORKDIR /data
EXPOSE 8080
# An orderly end takes the documents in hand to theirs.
STOPSIGNAL SIGTERM
CMD ["mafteach", "serve"]
