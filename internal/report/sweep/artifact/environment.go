package artifact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// environment is a record without its samples: what was measured, on which device, with
// which build.
type environment struct {
	Schema          string                   `json:"schema"`
	Run             string                   `json:"run"`
	Created         time.Time                `json:"created"`
	Pawl            string                   `json:"pawl,omitempty"`
	Source          measure.Source           `json:"source"`
	Format          string                   `json:"format,omitempty"`
	Suite           measure.SuiteRef         `json:"suite"`
	Device          gpu.Identity             `json:"device"`
	Testbed         measure.Testbed          `json:"testbed"`
	Environment     measure.Environment      `json:"environment"`
	Implementations []measure.Implementation `json:"implementations"`
	Plan            measure.Plan             `json:"plan"`
	Calibration     []calibration            `json:"calibration,omitempty"`
	measure.Ending
}

// calibration is the result of pawl's own calibration kernel.
type calibration struct {
	When   string        `json:"when"`
	Kernel string        `json:"kernel"`
	Timer  measure.Timer `json:"timer"`
	Median float64       `json:"median_ns"`
}

func writeEnvironment(run *measure.Run) ([]byte, error) {
	e := environment{
		Schema: "pawl.environment/v1", Run: run.ID, Created: run.Created, Pawl: run.Pawl, Source: run.Source, Format: run.Format,
		Suite: run.Suite, Device: run.Device, Testbed: run.Testbed, Environment: run.Environment,
		Implementations: run.Implementations, Plan: run.Plan, Ending: run.Ending,
	}
	for _, c := range run.Calibration {
		if len(c.Samples) > 0 {
			e.Calibration = append(e.Calibration, calibration{c.When, c.Kernel, c.Timer, stats.Median(c.Samples)})
		}
	}
	return indented("environment.json", e)
}

// indented encodes v as readable JSON.
func indented(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return b.Bytes(), nil
}
