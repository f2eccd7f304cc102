module tenure/clients/go

go 1.21
