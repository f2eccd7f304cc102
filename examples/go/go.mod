module tenure/examples/go

go 1.21

require (
	github.com/go-zookeeper/zk v1.0.4
	github.com/lib/pq v1.10.9
	tenure/clients/go v0.0.0
)

replace tenure/clients/go => ../../clients/go
