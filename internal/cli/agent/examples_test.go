package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/cli/command"
)

const examples = "../../../deploy/once"

// Every example calls a command that exists, with flags that it has.
func TestExamples_CallPawlAgent(t *testing.T) {
	once, _, err := newRoot(&command.Globals{}).Find([]string{"once"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"slurm.sh", "kubernetes.yaml", "arc.yaml"} {
		text, err := os.ReadFile(filepath.Join(examples, name))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, found := strings.Cut(string(text), "pawl-agent once ")
		line, _, _ := strings.Cut(rest, "\n")
		if !found || !strings.Contains(line, "--lease ") {
			t.Errorf("%s: no pawl-agent once --lease", name)
		}
		for word := range strings.FieldsSeq(line) {
			if flag, ok := strings.CutPrefix(word, "--"); ok && once.Flags().Lookup(flag) == nil {
				t.Errorf("%s: pawl-agent once has no --%s", name, flag)
			}
		}
	}
}

// kubernetesJob has the fields of a Job that the example may use, as the API of batch/v1 spells them.
type kubernetesJob struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string `yaml:"kind"`
	Metadata   struct {
		GenerateName string `yaml:"generateName"`
	} `yaml:"metadata"`
	Spec struct {
		BackoffLimit            *int `yaml:"backoffLimit"`
		TTLSecondsAfterFinished int  `yaml:"ttlSecondsAfterFinished"`
		ActiveDeadlineSeconds   int  `yaml:"activeDeadlineSeconds"`
		Template                struct {
			Spec struct {
				RestartPolicy                string `yaml:"restartPolicy"`
				AutomountServiceAccountToken *bool  `yaml:"automountServiceAccountToken"`
				Containers                   []struct {
					Name, Image   string
					Command, Args []string
					Env           []struct{ Name, Value string }
					Resources     struct{ Limits map[string]string }
					VolumeMounts  []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				} `yaml:"containers"`
				Volumes []kubernetesVolume `yaml:"volumes"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

type kubernetesVolume struct {
	Name   string
	Secret *struct {
		SecretName string `yaml:"secretName"`
	}
	EmptyDir *struct{} `yaml:"emptyDir"`
}

func TestExamples_KubernetesJob(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(examples, "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	var j kubernetesJob
	if err := d.Decode(&j); err != nil {
		t.Fatal(err)
	}
	pod := j.Spec.Template.Spec
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || pod.RestartPolicy != "Never" || j.Spec.BackoffLimit == nil || *j.Spec.BackoffLimit != 0 {
		t.Errorf("%+v: want a Job that does not repeat a lease by itself", j)
	}
	if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken || len(pod.Containers) != 1 {
		t.Errorf("%+v: want one container without a token of the cluster", pod)
	}
	for _, m := range pod.Containers[0].VolumeMounts {
		if !slices.ContainsFunc(pod.Volumes, func(v kubernetesVolume) bool { return v.Name == m.Name }) {
			t.Errorf("there is no volume %s", m.Name)
		}
	}
}

func TestExamples_Lint(t *testing.T) {
	for tool, args := range map[string][]string{"actionlint": {"-config-file", "testdata/actionlint.yaml", examples + "/arc.yaml"}, "sh": {"-n", examples + "/slurm.sh"}} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Logf("no %s in PATH: %v is not checked", tool, args)
			continue
		}
		if out, err := exec.CommandContext(t.Context(), path, args...).CombinedOutput(); err != nil {
			t.Errorf("%s %v: %v\n%s", tool, args, err, out)
		}
	}
}
