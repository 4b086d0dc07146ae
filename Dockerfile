# The bot in an image that holds nothing else: no shell, no packages, no libraries. `packaging/rootfs` lays it out.
# Its memory is in /data: mount a volume there, or set GRAPH_URL to a Neo4j.
FROM rust:1.95-alpine AS build
RUN apk add --no-cache bash build-base ca-certificates coreutils
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin muninn \
 && packaging/rootfs target/release/muninn /rootfs

FROM scratch
COPY --from=build /rootfs/muninn /muninn
COPY --from=build /rootfs/etc /etc
COPY --from=build /rootfs/tmp /tmp
COPY --from=build --chown=10001:10001 /rootfs/data /data
USER 10001:10001
WORKDIR /data
ENV DATA_DIR=/data
VOLUME /data
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s CMD ["/muninn", "health"]
ENTRYPOINT ["/muninn"]
CMD ["serve"]
