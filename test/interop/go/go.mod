module tenure/test/interop

go 1.19

require (
	github.com/go-zookeeper/zk v1.0.4
	tenure/test/interop/line v0.0.0
)

replace tenure/test/interop/line => ../line
