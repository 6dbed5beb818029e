# An image with the server and the admin CLI. It contains no compiler, and the programs do not run as root.
#
#   docker build -t bookplate .
#   docker run --rm -e BOOKPLATE_ADMIN_DATABASE_URL=… bookplate bookplate-admin migrate up
#   docker run -p 8080:8080 -e DATABASE_URL=… -e BOOKPLATE_SESSION_KEYS=/run/secrets/session-keys bookplate

FROM swift:6.3-bookworm AS build
WORKDIR /source
COPY scripts/common scripts/packages scripts/
RUN apt-get update \
    && apt-get install -y --no-install-recommends $(scripts/packages build) \
    && rm -rf /var/lib/apt/lists/*
# The programs embed the schema.
COPY Package.swift schema.graphql ./
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product bookplate \
    && swift build -c release --static-swift-stdlib --product bookplate-admin \
    && swift build -c release --static-swift-stdlib --product bookplate-imager \
    && folder=$(swift build -c release --static-swift-stdlib --show-bin-path) \
    && install -D -t /install "$folder/bookplate" "$folder/bookplate-admin" "$folder/bookplate-imager" \
    && strip /install/*

FROM debian:bookworm-slim
COPY scripts/common scripts/packages /tmp/scripts/
RUN apt-get update \
    && apt-get install -y --no-install-recommends $(/tmp/scripts/packages run) \
    && rm -rf /var/lib/apt/lists/* /tmp/scripts \
    && useradd --system --home-dir /var/lib/bookplate --create-home --shell /usr/sbin/nologin bookplate
COPY --from=build /install/ /usr/local/bin/
WORKDIR /usr/local/share/bookplate
COPY schema.graphql LICENSE ./
COPY migrations migrations
# The starter catalog with its license and attribution.
COPY scripts/catalog/starter.jsonl scripts/catalog/README.md scripts/catalog/

USER bookplate
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
