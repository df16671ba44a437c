package learn

import "github.com/goatnote-inc/pawl/internal/report"

var reportStyle = report.Style{Width: 120}
