package ci

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
)

// publisher reads the CI job and the suite of the base.
func (f *commentFlags) publisher() (*publisher, error) {
	p := &publisher{commentFlags: f, now: time.Now()}
	if f.Now != nil {
		p.now = f.Now()
	}
	var err error
	if _, p.job, err = f.CurrentJob(); err != nil {
		return p, command.Usage(err)
	}
	if _, err := os.Stat(discover.SuiteFile); f.suite != "" || !errors.Is(err, fs.ErrNotExist) {
		if p.base, p.path, err = env.LoadSuite(f.suite); err != nil {
			return p, err
		}
	}
	p.forge, p.repo, err = f.AtForge(f.repo, identity.Publishing, func(format string, args ...any) { f.Say(env.LogText(fmt.Sprintf(format, args...))) })
	if p.offline = errors.Is(err, forge.ErrNoToken); p.offline && f.dryRun {
		return p, nil
	}
	return p, err
}
