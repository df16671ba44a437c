package gitlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
)

type pipeline struct {
	ID      int64     `json:"id"`
	Project int64     `json:"project_id"`
	SHA     string    `json:"sha"`
	Ref     string    `json:"ref"`
	Status  string    `json:"status"`
	Source  string    `json:"source"`
	URL     string    `json:"web_url"`
	Created time.Time `json:"created_at"`
}

// Workflow is the file of every pipeline.
const Workflow = ".gitlab-ci.yml"

// run describes a pipeline. GitLab does not say whose code the pipeline of a merge request ran: a member can start one for a fork.
// It counts as a fork's.
func (p pipeline) run() forge.Run {
	r := forge.Run{
		ID: p.ID, Attempt: 1, Workflow: Workflow, Event: p.Source, Pull: p.Source == "merge_request_event",
		Head: forge.Head{Repo: p.Project, Branch: p.Ref, SHA: p.SHA}, Fork: p.Source == "merge_request_event", Status: "in_progress", URL: p.URL, Created: p.Created,
	}
	switch p.Status {
	case "success", "failed", "canceled", "skipped":
		r.Status, r.Conclusion = "completed", map[string]string{"success": "success", "failed": "failure", "canceled": "cancelled", "skipped": "skipped"}[p.Status]
	}
	return r
}

// Run returns one pipeline.
func (c *Client) Run(ctx context.Context, id int64) (forge.Run, error) {
	var p pipeline
	_, err := c.call(ctx, http.MethodGet, c.project+"/pipelines/"+strconv.FormatInt(id, 10), nil, nil, &p)
	return p.run(), c.wrapError(err, "cannot read pipeline %d", id)
}

// Runs returns pipelines, newest first: at most 1,000.
func (c *Client) Runs(ctx context.Context, q forge.RunQuery) ([]forge.Run, error) {
	if q.Workflow != "" && !strings.HasSuffix(q.Workflow, Workflow) {
		return nil, nil
	}
	query := url.Values{"order_by": {"id"}, "sort": {"desc"}}
	if q.HeadSHA != "" {
		query.Set("sha", q.HeadSHA)
	}
	found, err := list[pipeline](ctx, c, 10, c.project+"/pipelines", query)
	var runs []forge.Run
	for _, p := range found {
		runs = append(runs, p.run())
	}
	return runs, c.wrapError(err, "cannot list the pipelines")
}

type job struct {
	ID       int64 `json:"id"`
	Pipeline struct {
		ID int64 `json:"id"`
	} `json:"pipeline"`
	Created time.Time  `json:"created_at"`
	Expires *time.Time `json:"artifacts_expire_at"`
	File    *struct {
		Name string `json:"filename"`
		Size int64  `json:"size"`
	} `json:"artifacts_file"`
}

// artifacts returns the artifacts of jobs. Each job has at most one, whose name is that of its file without .zip.
func (c *Client) artifacts(jobs []job) []forge.Artifact {
	var all []forge.Artifact
	for _, j := range jobs {
		if j.File != nil {
			all = append(all, forge.Artifact{
				ID: j.ID, Name: strings.TrimSuffix(j.File.Name, ".zip"), Size: j.File.Size, Run: j.Pipeline.ID, Created: j.Created,
				Expired: j.Expires != nil && c.Now().After(*j.Expires),
			})
		}
	}
	return all
}

// Artifacts returns the artifacts of a pipeline's jobs.
func (c *Client) Artifacts(ctx context.Context, run int64) ([]forge.Artifact, error) {
	jobs, err := list[job](ctx, c, 20, c.project+"/pipelines/"+strconv.FormatInt(run, 10)+"/jobs", nil)
	return c.artifacts(jobs), c.wrapError(err, "cannot list the artifacts of pipeline %d", run)
}

// ArtifactsNamed returns the artifacts with that name of the newest 1,000 successful jobs, newest first.
func (c *Client) ArtifactsNamed(ctx context.Context, name string) ([]forge.Artifact, error) {
	var jobs []job
	for page := 1; page <= 10; page++ {
		var some []job
		query := url.Values{"scope[]": {"success"}, "per_page": {"100"}, "page": {strconv.Itoa(page)}}
		header, err := c.call(ctx, http.MethodGet, c.project+"/jobs", query, nil, &some)
		if err != nil {
			return nil, c.wrapError(err, "cannot list the artifacts named %q", name)
		}
		if jobs = append(jobs, some...); header.Get("X-Next-Page") == "" {
			break
		}
	}
	return slices.DeleteFunc(c.artifacts(jobs), func(a forge.Artifact) bool { return a.Name != name }), nil
}

// downloadTime is how long a download may take.
const downloadTime = 10 * time.Minute

// Download writes an artifact, which is a ZIP file, to w. If it is longer than limit bytes, it fails.
func (c *Client) Download(ctx context.Context, a forge.Artifact, w io.Writer, limit int64) error {
	if a.Size > limit {
		return fmt.Errorf("cannot download the artifact of job %d: it has %d bytes, the max is %d", a.ID, a.Size, limit)
	}
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	return c.wrapError(c.fetch(ctx, c.BaseURL+c.project+"/jobs/"+strconv.FormatInt(a.ID, 10)+"/artifacts", w, limit), "cannot download the artifact of job %d", a.ID)
}

// fetch follows redirects to the storage of artifacts, and sends the token only to GitLab.
func (c *Client) fetch(ctx context.Context, address string, w io.Writer, limit int64) error {
	for range 5 {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
		if err != nil {
			return err
		}
		if req.URL.Host == c.host {
			req.Header.Set("Private-Token", c.Token)
		}
		resp, err := c.HTTP.Do(req)
		if err != nil {
			return err
		}
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			resp.Body.Close()
			to, err := resp.Location()
			if err != nil {
				return err
			}
			if to.Scheme != "https" && to.Scheme != req.URL.Scheme {
				return errors.New("the storage of artifacts is not reached over https")
			}
			address = to.String()
			continue
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
			return &statusError{resp.StatusCode, forge.OneLine(string(text))}
		}
		n, err := io.Copy(w, io.LimitReader(resp.Body, limit))
		if err == nil && n == limit {
			if more, _ := io.ReadFull(resp.Body, make([]byte, 1)); more > 0 {
				return fmt.Errorf("it is longer than the max of %d bytes", limit)
			}
		}
		return err
	}
	return errors.New("it is redirected too often")
}
