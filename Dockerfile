# The bot in a small image. Its memory is in /data: mount a volume there, or set GRAPH_URL to a Neo4j.
FROM rust:1.95-bookworm AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin muninn

FROM debian:bookworm-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --create-home --uid 10001 muninn \
 && install -d -o muninn /data
COPY --from=build /src/target/release/muninn /usr/local/bin/muninn
USER muninn
WORKDIR /data
ENV DATA_DIR=/data GRAPH_URL=embedded:/data
VOLUME /data
ENTRYPOINT ["muninn"]
CMD ["serve"]
