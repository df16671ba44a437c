package trial

import "github.com/goatnote-inc/pawl/internal/kernel/harness"

// Follow calls each with every reading of the command's processes.
func (c *Commands) Follow(each func(harness.Load)) { c.cores.each = each }
