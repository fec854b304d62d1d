package store_test

import (
	"fmt"

	"github.com/rackrate/rackrate/internal/connect/store"
)

func manyChanges(n int) (list []store.Change) {
	for i := range n {
		list = append(list, store.Change{Provider: "aws", InstanceType: fmt.Sprintf("type-%d", i), Lines: fmt.Sprintf("us-east-1,on-demand,%d,2\n", i)})
	}
	return list
}
