module tenure/bench/peers

go 1.22

require (
	github.com/go-zookeeper/zk v1.0.4
	tenure/test/interop/line v0.0.0
)

replace tenure/test/interop/line => ../../../test/interop/line
