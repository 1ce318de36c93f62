# Martlet in a container: server, web client and terminal client.
#
#   docker build -t martlet .
#   docker run -d --name martlet -p 127.0.0.1:8008:8008 -v martlet:/var/lib/martlet -e MARTLET_SERVER_NAME=chat.example.org martlet
#
# Documentation/Guides/Run.md says more.

# A Debian with the Swift toolchain.
ARG SWIFT_IMAGE=swift:6.3-bookworm

FROM ${SWIFT_IMAGE} AS build
WORKDIR /martlet
# The libraries first: a change of the sources does not install them again.
COPY Scripts Scripts
RUN Scripts/install-dependencies --package
COPY . .
# The package's dependencies are those of the programs, so the second stage installs it like any Debian does.
RUN Scripts/package --output /package && mv /package/*.deb /martlet.deb

FROM debian:bookworm-slim
RUN --mount=type=bind,from=build,source=/martlet.deb,target=/tmp/martlet.deb \
    apt-get update \
    && apt-get install -y --no-install-recommends /tmp/martlet.deb \
    && rm -rf /var/lib/apt/lists/*
# Every address of the container. The file /etc/martlet/martlet.yaml can have other settings; variables take precedence over it.
ENV MARTLET_BIND=0.0.0.0:8008
# hadolint ignore=DL3066
USER martlet
WORKDIR /var/lib/martlet
VOLUME /var/lib/martlet
EXPOSE 8008/tcp 8008/udp
STOPSIGNAL SIGTERM
# /dev/tcp is bash's: the image needs no HTTP client for this.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["bash", "-c", \
    "exec 3<>/dev/tcp/127.0.0.1/8008 && printf 'GET /health HTTP/1.0\\r\\n\\r\\n' >&3 && read -r line <&3 && [[ $line == *' 200 '* ]]"]
ENTRYPOINT ["/usr/bin/martlet"]
CMD ["serve", "--config", "/etc/martlet/martlet.yaml"]
