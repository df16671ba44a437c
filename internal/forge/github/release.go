package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// APIVariable is the environment variable of a job with the URL of the API.
const APIVariable = "GITHUB_API_URL"

const maxReleaseBytes = 1 << 20

// LatestRelease asks an API for the tag of the newest release of a repository, OWNER/NAME. It sends no
// token and does not retry. The tag is untrusted.
func LatestRelease(ctx context.Context, api, repo string) (string, error) {
	u, err := url.Parse(api)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return "", errors.New("the address of the API must be an http or https URL")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(u.String(), "/")+"/repos/"+repo+"/releases/latest", http.NoBody)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", fmt.Errorf("%s does not answer", u.Host)
	}
	defer resp.Body.Close()
	var said struct {
		Tag string `json:"tag_name"`
	}
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxReleaseBytes)).Decode(&said) != nil {
		return "", fmt.Errorf("%s answers %s", u.Host, resp.Status)
	}
	return said.Tag, nil
}
