# Two images:
#   tenure (the default)   the command `tenure`; without arguments the sidecar
#   worker                 an example that embeds the module; docker-compose.yml and deploy/kubernetes/native run it
ARG NODE_IMAGE=node:24.19.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends g++ make python3 \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY package.json package-lock.json ./
# with_sock_cloexec: without it child processes inherit the connection to ZooKeeper (docs/operations.md). nodedir: the headers
# that come with this very Node.js, so that none are fetched.
RUN with_sock_cloexec=yes npm_config_nodedir="$(dirname "$(dirname "$(command -v node)")")" npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json LICENSE ./
COPY src src
RUN npm run --silent build \
  && chmod +x dist/cli/main.js

FROM build AS tenure-files
# The sources of the C client have done their work; without its build the addon would be missing at run time.
RUN npm prune --omit=dev --no-audit --no-fund \
  && node -e 'require("zookeeper")' \
  && rm -rf node_modules/zookeeper/build/Release/obj.target node_modules/zookeeper/deps node_modules/zookeeper/src

FROM tenure-files AS worker-files
# The client for PostgreSQL is the user's own, so the package brings none; the version is that of the tests. As long as it is a
# development dependency npm leaves it out.
# hadolint ignore=DL3016
RUN pg="pg@$(node -p 'require("./package.json").devDependencies.pg')" \
  && npm pkg delete devDependencies \
  && npm install --no-save --no-audit --no-fund "$pg"

FROM build AS worker-build
COPY deploy/stack deploy/stack
COPY deploy/image deploy/image
RUN npx --no-install tsc -p deploy/image/tsconfig.json

FROM ${NODE_IMAGE} AS base
# tini forwards signals and reaps what a wrapped command leaves behind: Node.js as process 1 does neither.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /opt/tenure
COPY deploy/image/healthcheck.mjs LICENSE ./
ENV NODE_ENV=production
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 CMD ["node", "/opt/tenure/healthcheck.mjs"]

FROM base AS worker
COPY --from=worker-files /build/node_modules node_modules
COPY --from=worker-build /build/package.json ./
COPY --from=worker-build /build/worker ./
ENV PAGES_HOST=0.0.0.0 PAGES_PORT=9464 HEALTH_URL=http://127.0.0.1:9464/healthz
EXPOSE 9464
USER 10001:10001
ENTRYPOINT ["/usr/bin/tini", "--"]
CMD ["node", "/opt/tenure/deploy/stack/worker.js"]

# The last one is what `docker build .` makes.
FROM base AS tenure
COPY --from=tenure-files /build/node_modules node_modules
COPY --from=tenure-files /build/package.json ./
COPY --from=tenure-files /build/dist dist
RUN ln -s /opt/tenure/dist/cli/main.js /usr/local/bin/tenure
ENV HEALTH_URL=http://127.0.0.1:2182/healthz
EXPOSE 2182
USER 10001:10001
ENTRYPOINT ["/usr/bin/tini", "--", "tenure"]
CMD ["agent"]
