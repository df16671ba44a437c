package discover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// cmakeGoal is a program that CMake builds from a source. Target and program are guessed from CMakeLists.txt
// until CMake itself names them.
type cmakeGoal struct {
	top     string // the folder of the project
	source  string // relative to it
	target  string
	program string
	off     []string // options that are off and may add it
	on      []string // options to switch on
}

// configure returns the command that prepares the build folder.
func (g cmakeGoal) configure() string {
	words := []string{"cmake" + inside("-S", g.top) + " -B build -G Ninja -DCMAKE_BUILD_TYPE=Release"}
	for _, name := range g.on {
		words = append(words, "-D"+name+"=ON")
	}
	return strings.Join(words, " ")
}

func (g cmakeGoal) command() string {
	return g.configure() + " && cmake --build build --target " + g.target
}

// The folders of CMake's File API: a query is an empty file, and the reply is written when CMake configures.
const (
	cmakeQuery = "build/.cmake/api/v1/query/codemodel-v2"
	cmakeReply = "build/.cmake/api/v1/reply"
	maxReply   = 64 << 20 // bytes read of one reply
	maxTargets = 10_000
)

const configureTimeout = 10 * time.Minute

// askCMake configures the project and replaces guessed targets with those that CMake reports. If no target is
// built from a source, it tries once more with the options that are off.
func (s Setup) askCMake(ctx context.Context, w *writer, x Finding) (Finding, error) {
	if len(x.cmake) == 0 {
		return x, nil
	}
	off := slices.Clone(x.cmake[0].off)
	goals := slices.Clone(x.cmake)
	for _, on := range [][]string{nil, off} {
		for i := range goals {
			goals[i].on = on
		}
		found, err := s.cmakeTargets(ctx, w, goals)
		if err != nil {
			return x, err
		}
		if found {
			return x.withGoals(goals), nil
		}
		if len(off) == 0 || on != nil {
			break
		}
		s.Say("no target is built from " + goals[0].source + ": trying again with " + strings.Join(off, ", "))
	}
	return x, fmt.Errorf("CMake has no target that is built from %s: set build.command to the one that builds the benchmark", x.cmake[0].source)
}

// cmakeTargets configures once, and sets target and program of all goals. It returns false if one has no target.
func (s Setup) cmakeTargets(ctx context.Context, w *writer, goals []cmakeGoal) (bool, error) {
	if err := w.root.MkdirAll(path.Dir(cmakeQuery), 0o755); err != nil {
		return false, fmt.Errorf("cannot ask CMake for its targets: %w", err)
	}
	if err := w.root.WriteFile(cmakeQuery, nil, 0o644); err != nil {
		return false, fmt.Errorf("cannot ask CMake for its targets: %w", err)
	}
	line := goals[0].configure()
	s.Say("configuring: " + line)
	if err := s.Build(ctx, suite.Build{Command: line, Timeout: configureTimeout}); err != nil {
		return false, err
	}
	targets, err := readTargets(w.root.FS(), s.Dir)
	if err != nil {
		return false, err
	}
	for i := range goals {
		g := &goals[i]
		at := slices.IndexFunc(targets, func(t cmakeTargetReply) bool { return slices.Contains(t.sources, g.source) })
		if at < 0 {
			return false, nil
		}
		g.target, g.program = targets[at].name, path.Join("build", targets[at].artifact)
	}
	return true, nil
}

// withGoals replaces the guessed targets and programs in the commands of a sighting.
func (s Finding) withGoals(goals []cmakeGoal) Finding {
	s.Build.Outputs = slices.Clone(s.Build.Outputs)
	for i, g := range goals {
		was := s.cmake[i]
		s.Build.Command = strings.ReplaceAll(s.Build.Command, was.configure()+" && ", g.configure()+" && ")
		s.Build.Command = replaceWord(s.Build.Command, "--target "+was.target, "--target "+g.target)
		s.Harness.Command = replaceWord(s.Harness.Command, runnable(was.program), runnable(g.program))
		if at := slices.Index(s.Build.Outputs, was.program); at >= 0 {
			s.Build.Outputs[at] = g.program
		}
		if s.Harness.Output == was.program+".json" {
			s.Harness.Output = g.program + ".json"
			s.Harness.Command = strings.ReplaceAll(s.Harness.Command, was.program+".json", s.Harness.Output)
		}
	}
	s.cmake = goals
	s.Doubts = slices.DeleteFunc(slices.Clone(s.Doubts), func(d string) bool { return strings.Contains(d, ": assuming the target ") })
	return s
}

// replaceWord replaces a text that is followed by a space or the end.
func replaceWord(line, was, is string) string {
	line = strings.ReplaceAll(line+" ", was+" ", is+" ")
	return strings.TrimSuffix(line, " ")
}

// cmakeTargetReply is an executable that CMake builds.
type cmakeTargetReply struct {
	name     string
	artifact string   // relative to the build folder
	sources  []string // relative to the project's folder
}

// readTargets reads CMake's newest reply. A name or a path that a shell could misread is left out.
func readTargets(fsys fs.FS, dir string) ([]cmakeTargetReply, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read CMake's targets: %w", err)
	}
	models, err := fs.Glob(fsys, cmakeReply+"/codemodel-v2-*.json")
	if err != nil || len(models) == 0 {
		return nil, errors.Join(errors.New("CMake wrote no list of its targets: it must be 3.14 or later"), err)
	}
	slices.Sort(models)
	var model struct {
		Paths struct {
			Source string `json:"source"`
		} `json:"paths"`
		Configurations []struct {
			Targets []struct {
				File string `json:"jsonFile"`
			} `json:"targets"`
		} `json:"configurations"`
	}
	if err := readReply(fsys, models[len(models)-1], &model); err != nil {
		return nil, err
	}
	var list []cmakeTargetReply
	for _, c := range model.Configurations {
		for _, t := range c.Targets[:min(len(c.Targets), maxTargets)] {
			var target struct {
				Name      string `json:"name"`
				Type      string `json:"type"`
				Artifacts []struct {
					Path string `json:"path"`
				} `json:"artifacts"`
				Sources []struct {
					Path string `json:"path"`
				} `json:"sources"`
			}
			if err := readReply(fsys, path.Join(cmakeReply, t.File), &target); err != nil {
				return nil, err
			}
			if target.Type != "EXECUTABLE" || len(target.Artifacts) == 0 || !cmakeTarget.MatchString(target.Name) {
				continue
			}
			artifact := strings.TrimPrefix(path.Clean(target.Artifacts[0].Path), filepath.ToSlash(abs)+"/build/")
			if !safeName.MatchString(artifact) {
				continue
			}
			r := cmakeTargetReply{name: target.Name, artifact: artifact}
			for _, source := range target.Sources {
				r.sources = append(r.sources, strings.TrimPrefix(path.Clean(source.Path), path.Clean(model.Paths.Source)+"/"))
			}
			list = append(list, r)
		}
	}
	return list, nil
}

// readReply decodes a file that CMake wrote.
func readReply(fsys fs.FS, name string, into any) error {
	if !fs.ValidPath(name) || path.Dir(name) != cmakeReply {
		return fmt.Errorf("CMake's list of targets names the file %q", name)
	}
	info, err := fs.Stat(fsys, name)
	if err == nil && info.Size() > maxReply {
		err = fmt.Errorf("it is larger than %d MiB", maxReply>>20)
	}
	var data []byte
	if err == nil {
		data, err = fs.ReadFile(fsys, name)
	}
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		return fmt.Errorf("cannot read CMake's targets from %s: %w", name, err)
	}
	return nil
}
