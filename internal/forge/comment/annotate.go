package comment

import (
	"path"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge"
)

// diagnostic matches the start of a build error as pawl shows it: "kernels/sum.cu:12:3:
// text".
var diagnostic = lazyregexp.New(`^((?:\.\./)*[A-Za-z0-9_][A-Za-z0-9_./+-]*\.[A-Za-z0-9]+):([0-9]{1,6})(?::[0-9]+)?: (.+)$`)

// annotationsShown is the max number of annotations of a check. A forge accepts fifty at
// once.
const annotationsShown = 20

// annotations returns remarks on the lines that a compiler names if the candidate does not
// build. A slower kernel has no annotation, because profiles name kernels, not lines.
func (in Input) annotations() []forge.Annotation {
	var list []forge.Annotation
	for _, s := range in.Stages {
		if s.Answer != "stop" {
			continue
		}
		for _, text := range append([]string{s.Line}, s.Detail...) {
			if a, ok := in.annotation(s.Name, text); ok && len(list) < annotationsShown {
				list = append(list, a)
			}
		}
	}
	return list
}

func (in Input) annotation(stage, text string) (forge.Annotation, bool) {
	m := diagnostic.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return forge.Annotation{}, false
	}
	line, err := strconv.Atoi(m[2])
	file := path.Join(in.Folder, m[1])
	if err != nil || line == 0 || strings.HasPrefix(file, "..") || strings.HasPrefix(file, "/") || len(file) > 300 {
		return forge.Annotation{}, false
	}
	return forge.Annotation{
		Path: file, Line: line, Level: forge.Fault, Title: words.Sanitize("pawl: " + stage), Message: words.Sanitize(m[3]),
	}, true
}
