package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// oldBranch has runs of a branch that may go.
func oldBranch(y *try) {
	y.w.store(y.t, func(s *store.Store) {
		p, err := s.Project(y.t.Context(), y.slug)
		if err == nil {
			p.Settings.BranchDays = 30
			err = s.UpdateProject(y.t.Context(), p)
		}
		if err != nil {
			y.t.Fatal(err)
		}
	})
	for i := range 3 {
		r := y.story.report(100 + i)
		r.Branch = "topic"
		if err := y.sender.push(y.t.Context(), r, withFile(r)); err != nil {
			y.t.Fatal(err)
		}
	}
}

func branchGone(y *try) {
	y.until("runs of branches to be gone", func() bool {
		return y.w.count(y.t, `select count(*) from pawl.report where project_id = $1 and lane > 0`, y.id) == 0
	}, "retain")
}

func (y *try) orphanFile() (digest, path string, data []byte) {
	data = []byte("nobody refers to this: " + y.slug)
	sum := sha256.Sum256(data)
	digest = hex.EncodeToString(sum[:])
	return digest, filepath.Join(y.w.blobs(), strconv.FormatInt(y.id, 10), digest[:2], digest), data
}

// unusedBlob is one that was sent days ago, and no report came.
func unusedBlob(y *try) {
	digest, path, data := y.orphanFile()
	req, err := http.NewRequestWithContext(y.t.Context(), http.MethodPost, y.w.url+"/v1/projects/"+y.slug+"/blobs/"+digest, bytes.NewReader(data))
	if err != nil {
		y.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+y.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusCreated {
		y.t.Fatalf("sending a blob: %v %v", resp, err)
	}
	_ = resp.Body.Close()
	aged(y, path)
	y.w.exec(y.t, `update pawl.blob set created = now() - interval '5 days' where project_id = $1`, y.id)
}

// orphan is a file without a row: its upload was cut off, days ago.
func orphan(y *try) {
	_, path, data := y.orphanFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		y.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		y.t.Fatal(err)
	}
	aged(y, path)
}

func aged(y *try, path string) {
	then := time.Now().Add(-5 * 24 * time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		y.t.Fatal(err)
	}
}

// collected waits until the file nobody refers to is gone.
func collected(y *try) {
	_, path, _ := y.orphanFile()
	y.until("the unused file to be gone", func() bool {
		_, err := os.Stat(path)
		return os.IsNotExist(err)
	}, "retain", "collect")
}

func (y *try) second() string { return "d" + y.slug }

// secondProject has runs and files, and will go.
func secondProject(y *try) {
	var key string
	y.w.store(y.t, func(s *store.Store) {
		p, err := s.CreateProject(y.t.Context(), store.Project{Project: client.Project{Slug: y.second(), Branch: "main"}})
		if err == nil {
			key, _, err = s.NewKey(y.t.Context(), p.ID, store.Key{Name: "k", Scopes: []store.Scope{store.ScopeAdmin, store.ScopeReport}})
		}
		if err != nil {
			y.t.Fatal(err)
		}
	})
	one := newSender(y.w.dir, y.w.url, y.second(), key, &notes{path: filepath.Join(y.w.dir, y.second()+".notes")})
	for i := range 3 {
		r := y.story.report(i)
		if err := one.push(y.t.Context(), r, withFile(r)); err != nil {
			y.t.Fatal(err)
		}
	}
	y.errandKey = key
	y.errandID = int64(y.w.count(y.t, `select id from pawl.project where slug = $1`, y.second()))
}

func deleteSecond(_ context.Context, y *try) {
	_, _, _ = y.do("DELETE", "/v1/projects/"+y.second()+"?confirm="+y.second(), y.errandKey, nil)
}

// secondGone waits until the deletion was finished, and looks for leftovers.
func secondGone(y *try) {
	y.until("the project to be gone", func() bool {
		return y.w.count(y.t, `select count(*) from pawl.project where slug = $1`, y.second()) == 0
	}, "retain")
	for _, table := range []string{"report", "receipt", "point", "tile", "series", "testbed", "revision", "blob", "report_blob", "dirty", "event", "api_key"} {
		if n := y.w.count(y.t, `select count(*) from pawl.`+table+` where project_id = $1`, y.errandID); n > 0 {
			y.problem("the deleted project has %d rows of %s", n, table)
		}
	}
	_ = filepath.WalkDir(filepath.Join(y.w.blobs(), strconv.FormatInt(y.errandID, 10)), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			y.problem("the deleted project has the file %s", path)
		}
		return nil
	})
}
