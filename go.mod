module github.com/rackrate/rackrate

go 1.26
