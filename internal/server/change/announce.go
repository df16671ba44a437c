package change

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/forge/publish"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/measure"
)

// Announce tells the forge how the gate of a change ended. What agents measured is judged again, by the suite of the base.
func (c *Changes) Announce(ctx context.Context, a gate.Announcement) error {
	s, err := c.subject(ctx, a.Event.Project)
	if err != nil || s == nil {
		return err
	}
	pub, err := c.publisher(ctx, s, a.Work.Base)
	if err != nil {
		return err
	}
	want := publish.Request{
		Pull: a.Event.Pull, SHA: cmp.Or(a.Work.Head, a.Event.Head), Trust: measure.Trust(a.Work.Trust), Superseded: a.Superseded, Failed: words.Sanitize(a.Failed),
	}
	if !a.Superseded && a.Failed == "" {
		folder, err := scratch.New("", "results")
		if err != nil {
			return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
		}
		defer folder.Remove()
		if want.Devices, err = c.devices(ctx, s.project, a.Work, folder.Path); err != nil {
			return err
		}
	}
	done, err := pub.Publish(ctx, want)
	if err != nil {
		return err
	}
	c.o.Log.InfoContext(ctx, "told the forge", "project", a.Event.Project, "gate", a.Event.Gate, "pull", done.Pull, "conclusion", done.Conclusion, "title", done.Title)
	return nil
}

// devices unpacks what was published of a gate, one folder below dir for each device model.
func (c *Changes) devices(ctx context.Context, project int64, w gate.Work, dir string) (list []publish.Device, err error) {
	parts, err := c.o.Fleet.Gate(ctx, project, w.Gate)
	for _, p := range parts {
		shown := client.GatePart{Device: p.Device, Calibration: fleetstore.ShownCalibration(p.Calibration)}
		d := publish.Device{Name: p.Model, Results: filepath.Join(dir, p.Model), Calibration: shown.Calibrated()}
		switch p.Exit {
		case nil:
			d.Failed = words.Sanitize(cmp.Or(p.Reason, "the gate ended as "+string(p.State)))
		default:
			err = c.unpack(ctx, w.Project, p, d.Results)
		}
		if errors.Is(err, archive.ErrRejected) {
			d.Failed, err = "the results cannot be used: "+words.Sanitize(err.Error()), nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, err
}

// unpack unpacks the documents of a run. Its exit code comes from the publication.
func (c *Changes) unpack(ctx context.Context, slug string, p fleetstore.Part, dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if p.Record != "" {
		if err := c.unpackBlob(ctx, slug, p.Record, dir+".zip", root); err != nil {
			return err
		}
	}
	_ = root.Remove(untrusted.Code)
	return root.WriteFile(untrusted.Code, []byte(strconv.Itoa(*p.Exit)+"\n"), 0o600)
}

func (c *Changes) unpackBlob(ctx context.Context, slug, digest, file string, into *os.Root) error {
	from, err := c.o.Blobs.Get(ctx, slug, digest)
	if errors.Is(err, gateway.ErrUnknown) || errors.Is(err, gateway.ErrMismatch) { // trying again would not bring them back
		return fmt.Errorf("%w: the server does not have the documents of the run", archive.ErrRejected)
	}
	if err != nil {
		return fmt.Errorf("cannot read the documents of a run: %w", err)
	}
	defer from.Close()
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	defer f.Close()
	size, err := io.Copy(f, io.LimitReader(from, untrusted.MaxArchiveBytes+1))
	if errors.Is(err, blob.ErrDamaged) {
		return fmt.Errorf("%w: the documents of the run are damaged", archive.ErrRejected)
	}
	if err != nil {
		return fmt.Errorf("cannot read the documents of a run: %w", err)
	}
	if size > untrusted.MaxArchiveBytes {
		return fmt.Errorf("%w: the archive is too large", archive.ErrRejected)
	}
	_, err = archive.Unpack(f, size, into, untrusted.Limits())
	return err
}
