package workflow

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// good is a workflow that keeps to every rule, in as few lines as that takes.
const good = `
name: ours
on:
  pull_request:
permissions: {}
concurrency:
  group: pawl-${{ github.event.pull_request.number }}
  cancel-in-progress: true
jobs:
  measure:
    if: github.event.pull_request.head.repo.id == github.event.repository.id
    runs-on: [self-hosted, gpu]
    timeout-minutes: 60
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - run: pawl run --out results
      - uses: actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1
        with:
          name: pawl-results
          retention-days: 30
  publish:
    runs-on: ubuntu-latest
    timeout-minutes: 5
    permissions:
      pull-requests: write
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          ref: ${{ github.event.pull_request.base.sha }}
          persist-credentials: false
      - uses: actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1
        with:
          name: pawl-results
      - run: pawl ci comment --results results
        env:
          GITHUB_TOKEN: ${{ github.token }}
`

// Each row breaks one rule, and that rule says so.
var broken = []struct{ rule, about, old, new string }{
	{"readable", "no YAML", "on:\n", "on: [\n"},
	{"readable", "an alias", "runs-on: [self-hosted, gpu]", "runs-on: &on [self-hosted, gpu]"},
	{"pull-request-target", "as a key", "  pull_request:\n", "  pull_request:\n  pull_request_target:\n"},
	{"pull-request-target", "in a list", "on:\n  pull_request:\n", "on: [pull_request, pull_request_target]\n"},
	{"no-default-permissions", "none said", "permissions: {}\n", ""},
	{"no-default-permissions", "all of them", "permissions: {}\n", "permissions: write-all\n"},
	{"no-default-permissions", "one that writes", "permissions: {}\n", "permissions:\n  packages: write\n"},
	{"measure-reads-only", "writes", "contents: read", "contents: write"},
	{"measure-reads-only", "asks for an identity", "contents: read", "id-token: write"},
	{"measure-reads-only", "reads more than it needs", "contents: read", "actions: read"},
	{"measure-reads-only", "what the workflow has", "    permissions:\n      contents: read\n", "    permissions: write-all\n"},
	{"measure-has-no-secrets", "a secret", "      - run: pawl run", "      - env: {A: \"${{ secrets.A }}\"}\n        run: pawl run"},
	{"measure-has-no-secrets", "the token", "      - run: pawl run", "      - env: {A: \"${{ github.token }}\"}\n        run: pawl run"},
	{"measure-has-no-secrets", "all of them", "      - run: pawl run", "      - env: {A: \"${{ toJSON(secrets) }}\"}\n        run: pawl run"},
	{"measure-has-no-secrets", "a secret for every job", "permissions: {}\n", "permissions: {}\nenv: {A: \"${{ secrets.A }}\"}\n"},
	{"measure-apart-from-writing", "in one job", "pawl run --out results", "pawl run --out results && pawl ci comment --results results"},
	{"no-persisted-credentials", "said nothing", "          persist-credentials: false\n      - run: pawl run", "          fetch-depth: 0\n      - run: pawl run"},
	{"no-persisted-credentials", "kept", "persist-credentials: false", "persist-credentials: true"},
	{"writer-checks-out-base", "the head", "pull_request.base.sha", "pull_request.head.sha"},
	{"writer-checks-out-base", "the merge commit, by default", "          ref: ${{ github.event.pull_request.base.sha }}\n", ""},
	{"writer-checks-out-base", "the head, if it has one", "github.event.pull_request.base.sha", "github.event.pull_request.base.sha && github.head_ref"},
	{"writer-checks-out-base", "the base's name in another repository", "          ref: ${{ github.event", "          repository: stranger/pawl\n          ref: ${{ github.event"},
	{"writer-checks-out-base", "a ref by its name", "${{ github.event.pull_request.base.sha }}", "refs/pull/7/merge"},
	{"no-text-in-scripts", "a title", "pawl ci comment --results results", "echo ${{ github.event.pull_request.title }}"},
	{"no-text-in-scripts", "a title in JavaScript", "      - run: pawl ci comment", "      - uses: actions/github-script@3a2844b7e9c422d3c10d287c895573f7108da1b3\n        with: {script: \"x('${{ github.head_ref }}')\"}\n      - run: pawl ci comment"},
	{"artifact-stays-packed", "of another run", "          name: pawl-results\n      - run: pawl ci comment", "          name: pawl-results\n          run-id: 7\n      - run: pawl ci comment"},
	{"artifact-stays-packed", "by a stranger's action", "actions/download-artifact@", "dawidd6/action-download-artifact@"},
	{"no-shared-cache", "in the measuring job", "      - run: pawl run", "      - uses: actions/cache@0057852bfaa89a56745cba8c7296529d2fc39830\n      - run: pawl run"},
	{"no-shared-cache", "in the writing job", "      - run: pawl ci comment", "      - uses: actions/cache/restore@0057852bfaa89a56745cba8c7296529d2fc39830\n      - run: pawl ci comment"},
	{"forks-wait", "no condition", "    if: github.event.pull_request.head.repo.id == github.event.repository.id\n", ""},
	{"forks-wait", "a condition that lets forks in", "head.repo.id == github.event.repository.id", "head.repo.id == github.event.repository.id || true"},
	{"forks-wait", "an environment that may be none", "    if: github.event.pull_request.head.repo.id == github.event.repository.id\n", "    environment: ${{ github.event.pull_request.draft && 'pawl-fork' }}\n"},
	{"pinned-actions", "a tag", "@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "@v7"},
	{"pinned-actions", "a short commit", "@3d3c42e5aac5ba805825da76410c181273ba90b1", "@3d3c42e5aac5"},
	{"pinned-actions", "a shared workflow", "jobs:\n", "jobs:\n  other:\n    permissions: {}\n    uses: us/them/.github/workflows/pawl-gate.yml@main\n"},
	{"writer-on-hosted-runner", "on the GPU's", "runs-on: ubuntu-latest", "runs-on: [self-hosted, gpu]"},
	{"no-paths-filter", "on pull requests", "  pull_request:\n", "  pull_request:\n    paths: ['kernels/**']\n"},
	{"concurrency", "none", "concurrency:\n  group: pawl-${{ github.event.pull_request.number }}\n  cancel-in-progress: true\n", ""},
	{"concurrency", "older runs go on", "cancel-in-progress: true", "cancel-in-progress: false"},
	{"concurrency", "a merge queue's run is cancelled", "  pull_request:\n", "  pull_request:\n  merge_group:\n"},
	{"concurrency", "a ratchet is cancelled", "  pull_request:\n", "  push:\n"},
	{"concurrency", "a ratchet that waits is replaced", "on:\n  pull_request:\npermissions: {}\nconcurrency:\n  group: pawl-${{ github.event.pull_request.number }}\n  cancel-in-progress: true\n", "on: push\npermissions: {}\nconcurrency: pawl\n"},
	{"timeout", "none", "    timeout-minutes: 60\n", ""},
	{"retention", "not said", "          retention-days: 30\n", ""},
	{"retention", "for years", "retention-days: 30", "retention-days: 400"},
}

func TestEveryRuleCatchesWhatBreaksIt(t *testing.T) {
	for _, p := range Check("good.yml", []byte(good)) {
		t.Errorf("the good workflow: %v", p)
	}
	caught := map[string]bool{"readable": true}
	for _, b := range broken {
		if !strings.Contains(good, b.old) {
			t.Fatalf("%s, %s: the good workflow has no %q", b.rule, b.about, b.old)
		}
		var names []string
		for _, p := range Check("bad.yml", []byte(strings.Replace(good, b.old, b.new, 1))) {
			names = append(names, p.Rule)
			if p.Line < 1 || p.Message == "" {
				t.Errorf("%s, %s: says neither where nor what: %v", b.rule, b.about, p)
			}
		}
		if !slices.Contains(names, b.rule) {
			t.Errorf("%s, %s: not caught, only %v", b.rule, b.about, names)
		}
		caught[b.rule] = true
	}
	for name, why := range Rules() {
		if !caught[name] || why == "" {
			t.Errorf("no broken workflow shows that the rule %s works, or it has no reason", name)
		}
	}
}

// What our files may do stands here once more, by hand: a permission more is a decision.
func TestPermissionsOfEveryJob(t *testing.T) {
	publisher := "actions: read, checks: write, contents: read, pull-requests: write"
	want := map[string]string{
		"pawl-gate/announce": "checks: write, contents: read, pull-requests: read", "pawl-gate/touched": "contents: read",
		"pawl-gate/measure": "contents: read", "pawl-gate/measure-fork": "contents: read", "pawl-gate/publish": publisher,
		"pawl-publish/publish": publisher, "pawl-publish/accept": publisher,
		"pawl-ratchet/touched": "contents: read", "pawl-ratchet/measure": "contents: read", "pawl-ratchet/move": "contents: write",
		"pawl-autotune/measure": "contents: read", "pawl-autotune/apply": "actions: read, contents: write, pull-requests: write",
		"pawl-nightly/measure": "contents: read", "pawl-nightly/cost": "actions: read, contents: read",
	}
	for _, f := range rendered(t, sample()) {
		name := strings.TrimSuffix(strings.TrimPrefix(f.Path, Folder+"/"), ".yml")
		d, err := parse("pawl.yml", f.Text)
		if err != nil {
			t.Fatal(err)
		}
		most := map[string]string{}
		for _, j := range d.jobs {
			grants, all := d.grants(j)
			var list []string
			for _, key := range slices.Sorted(maps.Keys(grants)) {
				list = append(list, key+": "+grants[key])
				if most[key] != "write" {
					most[key] = grants[key]
				}
			}
			key := name + "/" + j.id
			if got := strings.Join(list, ", "); all || got != want[key] {
				t.Errorf("%s may do %q, want %q", key, got, want[key])
			}
			delete(want, key)
		}
		var callers []string
		for _, key := range slices.Sorted(maps.Keys(most)) {
			callers = append(callers, key+": "+most[key])
		}
		if !slices.Equal(callers, grants[name]) {
			t.Errorf("whoever calls %s grants %v, and its jobs ask for %v", name, grants[name], callers)
		}
	}
	for key := range want {
		t.Errorf("there is no job %s", key)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(good))
	for _, b := range broken {
		f.Add([]byte(strings.Replace(good, b.old, b.new, 1)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range Check("x.yml", text) {
			if p.Message == "" || p.Rule == "" {
				t.Errorf("says nothing: %v", p)
			}
		}
		if st, ok := ReadStamp(text); ok && st.Version == "" {
			t.Error("a stamp without a version")
		}
	})
}
