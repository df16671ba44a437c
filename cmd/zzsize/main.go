package main

import (
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/device"
)

func main() {
	inv, err := device.List(context.Background(), device.Options{})
	fmt.Println(inv.Reader, inv.NoNVIDIA, len(inv.Devices), err)
}
