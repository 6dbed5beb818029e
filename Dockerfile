# An image with the server and the admin CLI. It contains no compiler, and the programs do not run as root.
#
#   docker build -t bookplate .
#   docker run --rm -e BOOKPLATE_ADMIN_DATABASE_URL=… bookplate bookplate-admin migrate up
#   docker run -p 8080:8080 -e DATABASE_URL=… -e BOOKPLATE_SESSION_KEYS=/run/secrets/session-keys \
#     -e BOOKPLATE_PUBLIC_URL=https://books.example.com bookplate
#
# The tags of the base images move. For reproducible builds, pin the digests that you have tested:
#
#   docker build --build-arg BUILD_IMAGE=swift:6.3-bookworm@sha256:… --build-arg RUN_IMAGE=debian:bookworm-slim@sha256:… .
#
# `docker buildx imagetools inspect debian:bookworm-slim` prints the current digest. The file has no digests of its own, because
# they would keep images from getting security updates until someone changes this file.
ARG BUILD_IMAGE=swift:6.3-bookworm
ARG RUN_IMAGE=debian:bookworm-slim

FROM ${BUILD_IMAGE} AS build
WORKDIR /source
COPY scripts/common scripts/packages scripts/
RUN apt-get update \
    && apt-get install -y --no-install-recommends $(scripts/packages build) \
    && rm -rf /var/lib/apt/lists/*
# The dependencies are a layer of their own, which is built again only when their versions change. Without a file
# Package.resolved, their newest versions are used.
COPY Package.swift Package.resolved* ./
RUN swift package resolve
COPY Plugins Plugins
# The programs embed the schema and the migrations.
COPY schema.graphql ./
COPY migrations migrations
COPY Sources Sources
# Package.swift is read without the tests, which are not in the image.
RUN export ONLY_TARGETS="BookplateServer Admin Imager" \
    && swift build -c release --static-swift-stdlib --product bookplate \
    && swift build -c release --static-swift-stdlib --product bookplate-admin \
    && swift build -c release --static-swift-stdlib --product bookplate-imager \
    && folder=$(swift build -c release --static-swift-stdlib --show-bin-path) \
    && install -D -t /install "$folder/bookplate" "$folder/bookplate-admin" "$folder/bookplate-imager" \
    && strip /install/* \
    && swift --version | sed -nE 's/.*Swift version ([0-9.]+).*/\1/p' > swift-version

FROM ${RUN_IMAGE}
ARG RUN_IMAGE
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Bookplate" \
      org.opencontainers.image.description="The backend of a reading app: a GraphQL server on PostgreSQL" \
      org.opencontainers.image.version="0.9.0" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${RUN_IMAGE}"
COPY scripts/common scripts/packages /usr/local/share/bookplate/scripts/
# The client of PostgreSQL is for the scripts backup and restore. The user has a fixed number, so that Kubernetes can check
# that it is not root, and volumes can be prepared for it.
RUN apt-get update \
    && apt-get install -y --no-install-recommends postgresql-client \
       $(/usr/local/share/bookplate/scripts/packages run) \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 bookplate \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/bookplate --create-home --shell /usr/sbin/nologin bookplate
COPY --from=build /install/ /usr/local/bin/
WORKDIR /usr/local/share/bookplate
COPY schema.graphql LICENSE ./
COPY --from=build /source/Package.resolved /source/swift-version ./
# The license of the editor that the program contains, and its version for the bill of materials.
COPY Sources/System/CExplorer/codemirror/LICENSE Sources/System/CExplorer/codemirror/codemirror.css Sources/System/CExplorer/codemirror/
COPY scripts/backup scripts/restore scripts/sbom scripts/
RUN SWIFT_VERSION="$(cat swift-version)" scripts/sbom "$(bookplate-admin --version | cut -d ' ' -f 2)" > sbom.spdx.json
# The starter catalog with its license and attribution.
COPY scripts/catalog/starter.jsonl scripts/catalog/hooks.jsonl scripts/catalog/README.md scripts/catalog/

USER 10001:10001
VOLUME /var/lib/bookplate
EXPOSE 8080
ENV BOOKPLATE_ENV=production \
    BOOKPLATE_HOST=0.0.0.0 \
    BOOKPLATE_PORT=8080 \
    BOOKPLATE_STORAGE=file:/var/lib/bookplate/objects
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s CMD ["bash", "-c", "\
    port=$BOOKPLATE_PORT; [[ $port != *://* ]] || port=8080; \
    exec 3<>/dev/tcp/127.0.0.1/$port \
    && printf 'GET /health/ready HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 \
    && read -r answer <&3 && [[ $answer == *' 200 '* ]]"]
CMD ["bookplate"]
