# Everything here runs on a fresh clone: what is missing is installed, or named in one line.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
ARGS ?=
VENDOR ?= dashboards/vendor

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# loglevel: some tools, such as that of the releases, ask for a newer Node.js than the one that everything here runs on.
# with_sock_cloexec: without it the C client's sockets go to child processes, which breaks both; see docs/operations.md.
node_modules/.installed: package.json package-lock.json
	@command -v node >/dev/null || { echo "node is missing: install Node.js 20.19 or newer"; exit 1; }
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); if (a < 20 || (a === 20 && b < 19)) { console.error("node " + process.version + " is too old: install Node.js 20.19 or newer"); process.exit(1); }'
	@command -v npm >/dev/null || { echo "npm is missing: install it with Node.js"; exit 1; }
	@command -v python3 >/dev/null && command -v make >/dev/null && command -v g++ >/dev/null || { echo "python3, make or g++ is missing: install them, the package zookeeper compiles the C client"; exit 1; }
	with_sock_cloexec=yes npm ci --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: servers
servers: node_modules/.installed ## Fetch the real servers that the tests and the demo start
	@npx tsx deploy/local/up.ts --fetch

.PHONY: toolchains
toolchains: node_modules/.installed ## Fetch what candidates and examples in Python, Java and Go, and the site of docs, are made with
	@npx tsx deploy/local/toolchains/fetch.ts test/interop/go bench/peers/go bench/peers/etcd examples/go/native examples/python/requirements.txt examples/java/pom.xml deploy/docs/api

.PHONY: build
build: node_modules/.installed ## Compile to dist/
	npm run --silent build

.PHONY: package
package: node_modules/.installed ## Write the package to install elsewhere, tenure-<version>.tgz
	@npx tsx deploy/package/stage.ts
	@npm pack ./.cache/package

.PHONY: lint
lint: node_modules/.installed ## Check style, types, imports and unused code
	npm run --silent lint
	npm run --silent typecheck
	npx knip

.PHONY: docs
docs: node_modules/.installed ## Write the reference of the API and the pages as a site, site/index.html
	@npx tsx deploy/docs/api.ts

.PHONY: demo
demo: node_modules/.installed servers ## Settle payments while servers and workers fail (ARGS="--fast --keep")
	@npx tsx examples/settlement/demo.ts $(ARGS)

.PHONY: stack
stack: node_modules/.installed servers ## Run everything from the ensemble to the pager, until Ctrl-C (ARGS="--fast --drill")
	@npx tsx deploy/stack/stack.ts $(ARGS)

.PHONY: test
test: lint build servers toolchains ## Run every test
	npx vitest run $(ARGS)

.PHONY: interop
interop: node_modules/.installed servers toolchains ## Hand leaderships on among four libraries, a hundred times a queue (minutes)
	TENURE_INTEROP=long npx vitest run test/interop $(ARGS)

.PHONY: test-wire
test-wire: node_modules/.installed servers ## Run the elections' tests and the demo with the wire driver
	TENURE_DRIVER=wire npx vitest run test/integration/election $(ARGS)
	TENURE_DRIVER=wire npx tsx examples/settlement/demo.ts --fast

.PHONY: chaos
chaos: node_modules/.installed servers ## Torment real workers and servers by seed, and judge it (ARGS="--minutes 10 --seed 7"; root)
	npx tsx test/chaos/chaos.ts $(ARGS)

.PHONY: mutants
mutants: node_modules/.installed servers ## Put faults into the protocol, and see which test finds each (half an hour)
	npx tsx test/mutation/mutation.ts $(ARGS)

.PHONY: bench
bench: node_modules/.installed servers ## Measure failovers, the lifeline, guards and scrapes (minutes)
	npx tsx bench/failover.ts
	npx tsx bench/lifeline.ts
	npx tsx bench/guards.ts
	npx tsx bench/scrape.ts
	npx tsx bench/sidecar.ts
	npx tsx bench/driver.ts
	npx tsx bench/many.ts

.PHONY: peers
peers: node_modules/.installed servers toolchains ## Measure Tenure beside Curator, kazoo, go-zookeeper and etcd (half an hour; ARGS="--only kill")
	@npx tsx bench/peers.ts $(ARGS)

.PHONY: alerts
alerts: ## Render the alerts and Alertmanager's configuration from alerts/ (needs jsonnet)
	alerts/render.sh

.PHONY: dashboards
dashboards: ## Render the dashboards (needs jsonnet, and grafonnet in VENDOR, by default dashboards/vendor)
	TENURE_VENDOR=$(abspath $(VENDOR)) dashboards/render.sh

.PHONY: clean
clean: ## Remove what was built and fetched
	rm -rf dist coverage site .cache node_modules
