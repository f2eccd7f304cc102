module tenure/test/interop/line

go 1.19
