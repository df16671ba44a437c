package fleet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// slurmConf is a cluster of one node that trusts its only user.
const slurmConf = `ClusterName=pawl
SlurmctldHost=%[1]s(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort=%[3]s
SlurmdPort=%[4]s
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldLogFile=%[2]s/slurmctld.log
SlurmdLogFile=%[2]s/slurmd.log
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=gpu Nodes=ALL Default=YES MaxTime=INFINITE State=UP
`

// testSlurm lets a job of a real Slurm carry out the lease of a gate, with the script of deploy/once.
func (w *world) testSlurm(t *testing.T) {
	testrun.NightlyOnly(t)
	if _, err := exec.LookPath("slurmctld"); err != nil {
		t.Skip("no slurmctld in PATH")
	}
	dir := filepath.Join(w.dir, "slurm")
	for _, name := range []string{"state", "spool", "agent"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	host, err := os.Hostname()
	must(t, err)
	host, _, _ = strings.Cut(host, ".")
	ports := freePorts(t, 2)
	conf := filepath.Join(dir, "slurm.conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, slurmConf, host, dir, ports[0], ports[1]), 0o600))
	env := []string{"SLURM_CONF=" + conf, "PATH=" + w.bin + ":" + os.Getenv("PATH"), "PAWL_GATEWAY=" + w.gateway, "PAWL_AGENT=" + filepath.Join(dir, "agent")}
	w.startAs("slurmctld", env, "slurmctld", "-D", "-c")
	w.startAs("slurmd", env, "slurmd", "-D", "-N", host)

	w.enrollAsleep(t, "slurm-0", "slurm", filepath.Join(dir, "agent"))
	r := newRepository(t)
	r.commit(t, "120")
	gate := w.command(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "slurm")
	must(t, gate.Start())
	var lease string
	await.TrueWithin(t, patience, "the gate to wait for a job", func() bool {
		var queue []struct{ Lease, Model, Reason string }
		must(t, json.Unmarshal([]byte(w.must(t, "pawl", "fleet", "queue", "--json")), &queue))
		for _, q := range queue {
			if q.Model == "slurm" && strings.Contains(q.Reason, "one has to start") {
				lease = q.Lease
			}
		}
		return lease != ""
	})
	script, err := filepath.Abs("../../deploy/once/slurm.sh")
	must(t, err)
	out := filepath.Join(dir, "job.log")
	await.TrueWithin(t, patience, "Slurm to answer", func() bool {
		ping := exec.CommandContext(t.Context(), "scontrol", "ping")
		ping.Env = append(os.Environ(), env...)
		text, err := ping.CombinedOutput()
		return err == nil && strings.Contains(string(text), "UP")
	})
	job := exec.CommandContext(t.Context(), "sbatch", "--wait", "--output="+out, script, lease)
	job.Dir, job.Env = dir, append(append([]string{}, w.env...), env...)
	if text, err := job.CombinedOutput(); err != nil {
		log, _ := os.ReadFile(out)
		t.Errorf("sbatch: %v\n%s%s", err, text, log)
	}
	if code := exitCode(t, gate.Wait()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if verdict := verdictOf(t, filepath.Join(r.dir, "results")); verdict != "regression" {
		t.Errorf("verdict %s", verdict)
	}
}

// enrollAsleep enrolls a device whose agent does not stay, as docs/how-to/fleet-batch.md does.
func (w *world) enrollAsleep(t *testing.T, device, model, state string) {
	t.Helper()
	code := w.enroll(t, filepath.Join(w.dir, device), model)
	serve := w.startAs(device, nil, "pawl-agent", "serve", "--server", w.gateway, "--state", state, "--code", code, "--device", device, "--model", model)
	await.TrueWithin(t, patience, device+" to be in the fleet", func() bool {
		return strings.Contains(w.must(t, "pawl", "fleet", "devices"), device+" on")
	})
	must(t, serve.Process.Signal(syscall.SIGTERM))
	_ = serve.Wait()
	w.must(t, "pawld", "fleet", "device", "set", device, "--model", model, "--host", model, "--power", "asleep")
}
