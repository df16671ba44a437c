package agent

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// identity is what the gateway knows the agent by. Its key is the only secret of the agent.
type identity struct {
	Server    string    `json:"server"`
	Agent     string    `json:"agent,omitzero"` // empty until enrolled
	Namespace string    `json:"namespace,omitzero"`
	Tier      tier.Tier `json:"tier,omitzero"` // of code that it serves, as the server said; empty for own
	Model     string    `json:"model"`
	Devices   []string  `json:"devices"`
	Key       string    `json:"key"`
}

// onlyBuilds reports whether the host has no devices.
func (id identity) onlyBuilds() bool { return len(id.Devices) == 0 }

const maxIdentity = 64 << 10

func (a *Agent) identityFile() string { return filepath.Join(a.state, "agent.json") }

// enrolled returns the identity of the agent, and enrolls it the first time. The key is on disk before its hash is sent, so that an answer
// that is lost can be asked for again.
func (a *Agent) enrolled(ctx context.Context, o Options) (identity, error) {
	id, err := a.readIdentity()
	if err != nil {
		return id, err
	}
	if id.Key == "" {
		if id, err = newIdentity(ctx, o); err != nil {
			return id, err
		}
		if err := a.writeIdentity(id); err != nil {
			return id, err
		}
	}
	if id.Server != o.Server || o.BuildOnly && !id.onlyBuilds() || o.Devices != nil && !slices.Equal(o.Devices, id.Devices) || o.Model != "" && o.Model != id.Model {
		return id, fmt.Errorf("this agent is enrolled at %s with the devices %s, model %s: remove %s and enroll again with a new code", id.Server, strings.Join(id.Devices, ", "), id.Model, a.identityFile())
	}
	if id.Agent != "" {
		return id, nil
	}
	if o.Code == "" {
		return id, errors.New("this agent is not enrolled: run `pawld agent enroll NAME` on the server and pass the code with --code FILE")
	}
	if err := a.enroll(ctx, o.Code, &id); err != nil {
		return id, err
	}
	a.log.InfoContext(ctx, "enrolled", "agent", id.Agent, "devices", id.Devices, "tier", id.Tier)
	return id, a.writeIdentity(id)
}

func (a *Agent) readIdentity() (id identity, err error) {
	text, err := disk.ReadRegular(a.identityFile(), maxIdentity)
	if errors.Is(err, fs.ErrNotExist) {
		return id, nil
	}
	if err != nil {
		return id, fmt.Errorf("cannot read the agent's key: %w", err)
	}
	if err := json.Unmarshal(text, &id); err != nil {
		return id, fmt.Errorf("cannot read %s: %w", a.identityFile(), err)
	}
	return id, nil
}

func (a *Agent) writeIdentity(id identity) error {
	return writeJSON(a.identityFile(), id)
}

// newIdentity makes a key for the devices of this host.
func newIdentity(ctx context.Context, o Options) (identity, error) {
	u, err := url.Parse(o.Server)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return identity{}, fmt.Errorf("%.100q is not the address of a server: want https://HOST", o.Server)
	}
	if u.Scheme == "http" && !loopback.Is(u.Host) {
		return identity{}, fmt.Errorf("%s would send the key unencrypted: want https://HOST", o.Server)
	}
	id := identity{Server: o.Server, Devices: o.Devices, Model: o.Model}
	if !o.BuildOnly && (id.Devices == nil || id.Model == "") {
		device, model, err := findDevice(ctx, o.Pawl)
		if err != nil {
			return identity{}, err
		}
		id.Model = cmp.Or(id.Model, model)
		if id.Devices == nil {
			id.Devices = []string{device}
		}
	}
	var secret [32]byte
	rand.Read(secret[:])
	id.Key = "pawla_" + base64.RawURLEncoding.EncodeToString(secret[:])
	return id, nil
}

// findDevice asks pawl for the GPU of this machine and its model. A machine without one offers its CPU, under a name that stays the same.
func findDevice(ctx context.Context, pawl string) (id, model string, err error) {
	out, err := exec.CommandContext(ctx, pawl, "device", "show", "--json").Output()
	if err != nil {
		return "", "", fmt.Errorf("cannot ask pawl for the devices of this machine: %w", err)
	}
	found, err := shownDevice(out)
	if err != nil {
		return "", "", err
	}
	if found != nil && found.UUID != "" {
		return found.UUID, job.ModelOf(found.Name), nil
	}
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return "", "", fmt.Errorf("this machine has no GPU and no machine-id: name its device with --device: %w", err)
	}
	sum := sha256.Sum256(append([]byte("pawl device: "), machine...)) // the machine-id itself is not to be published
	return "cpu:" + hex.EncodeToString(sum[:8]), "cpu", nil
}

// shownDevice returns the GPU in the answer of pawl device show; nil if there is none.
func shownDevice(answer []byte) (*gpu.Identity, error) {
	var found struct {
		Device *gpu.Identity `json:"device"`
	}
	if err := json.Unmarshal(answer, &found); err != nil {
		return nil, fmt.Errorf("cannot read pawl's answer about the devices of this machine: %w", err)
	}
	return found.Device, nil
}

// enroll sends the code and the hash of the key. It tries until the server answers.
func (a *Agent) enroll(ctx context.Context, code string, id *identity) error {
	hash := sha256.Sum256([]byte(id.Key))
	body, err := json.Marshal(job.Enrollment{Code: strings.TrimSpace(code), Key: hex.EncodeToString(hash[:]), Model: id.Model, Devices: id.Devices})
	if err != nil {
		return err
	}
	return a.repeat(ctx, "enroll", func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, id.Server+job.EnrollPath, bytes.NewReader(body))
		if err != nil {
			return permanent(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := a.http.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if err := statusError(res); err != nil {
			return err
		}
		var answer job.Enrolled
		if err := json.NewDecoder(io.LimitReader(res.Body, maxIdentity)).Decode(&answer); err != nil {
			return fmt.Errorf("cannot read the answer: %w", err)
		}
		if answer.Agent == "" || answer.Namespace == "" {
			return permanent(errors.New("the answer names no agent: is this the address of pawld's gateway?"))
		}
		id.Agent, id.Namespace, id.Tier = answer.Agent, answer.Namespace, answer.Tier
		return nil
	})
}

// writeJSON writes a file of the agent durably. Only the agent's user can read it.
func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	err = disk.Replace(path, 0o600, func(w io.Writer) error { _, err := w.Write(append(text, '\n')); return err })
	if err != nil {
		return fmt.Errorf("cannot write the agent's state: %w", err)
	}
	return nil
}
