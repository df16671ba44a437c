// Package amd reads and controls AMD GPUs through the files of the kernel's amdgpu driver, which need no library
// and no process per reading. The program amd-smi is asked only why a card slows down, and only where the
// driver's table of metrics has a form that this package does not know.
//
// Not yet run on an AMD card: the forms of the files are those of the kernel's and ROCm's documentation.
//
// Errors wrap fs.ErrPermission if more permission is needed and errors.ErrUnsupported if this device or driver
// cannot do it. The package knows nothing of locks, leases or rounds.
package amd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/device/vendor"
)

// Vendor reads the GPUs of AMD.
var Vendor = vendor.Vendor{Kind: gpu.AMD, Name: "AMD", Visible: "ROCR_VISIBLE_DEVICES", Find: find}

// nodes is where the driver describes the devices that ROCm computes on, in ROCm's order.
const nodes = "sys/class/kfd/kfd/topology/nodes"

var (
	errNoDriver = errors.New("the amdgpu driver is not loaded, or has no compute devices")
	errNone     = errors.New("the amdgpu driver reports no readable GPU: check the permissions of /dev/kfd, and \"amd-smi list\"")
)

// find lists the GPUs. A card that is cut into partitions is left out: its parts share files, clocks and power.
func find(ctx context.Context, m vendor.Machine) (vendor.Found, error) {
	sys := host.System{FS: m.Root}
	entries, err := fs.ReadDir(m.Root, nodes)
	if err != nil {
		return vendor.Found{}, errNoDriver
	}
	found := vendor.Found{Reader: "sysfs"}
	index := 0
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(nodeNumber(a), nodeNumber(b)) })
	for _, e := range entries {
		node, isGPU := readNode(sys, nodes+"/"+e.Name())
		if !isGPU {
			continue
		}
		d := open(node, index, m)
		index++
		if part := sys.Text(d.dir + "/current_compute_partition"); part != "" && part != "SPX" {
			found.Notices = append(found.Notices, vendor.Notice{
				Code:    "gpu_unreadable",
				Message: fmt.Sprintf("%s is cut into partitions (%s), and pawl measures only on whole cards of AMD", d.id.Name, part),
				Fix:     "sudo amd-smi set --compute-partition SPX",
			})
			continue
		}
		if !d.explained(ctx) {
			found.Notices = append(found.Notices, vendor.Notice{
				Code:    "reasons_unreadable",
				Message: fmt.Sprintf("the driver of %s does not report why it slows down, and amd-smi does not either: slow rounds cannot be told from slow code", d.id.Name),
			})
		}
		found.Devices = append(found.Devices, d)
	}
	if len(found.Devices) == 0 {
		return found, errNone
	}
	return found, nil
}

func nodeNumber(e fs.DirEntry) int {
	n, err := strconv.Atoi(e.Name())
	if err != nil {
		return -1
	}
	return n
}
