package tenure

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// answer is a candidacy as the sidecar tells it.
type answer struct {
	Key      string    `json:"key"`
	State    string    `json:"state"`
	Leading  bool      `json:"leading"`
	Term     *int64    `json:"term"`
	Token    *token    `json:"token"`
	Previous *Previous `json:"previous"`
	MayActMs float64   `json:"mayActMs"`
	Reason   *string   `json:"reason"`
	Version  int64     `json:"version"`
}

type token int64

func (t *token) UnmarshalText(text []byte) error {
	value, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || value < 1 {
		return fmt.Errorf("%q is not a fencing token", text)
	}
	*t = token(value)
	return nil
}

func (a answer) holds(term *Term) bool {
	return a.Term != nil && a.Token != nil && *a.Term == term.Number && int64(*a.Token) == term.Token
}

// sidecar is its HTTP, and nothing of elections.
type sidecar struct {
	base   string
	bearer string
	http   *http.Client
}

func newSidecar(address, bearer string) (*sidecar, error) {
	where, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the sidecar's URL: %w", err)
	}
	// No proxy and no redirect: neither is meant to see the key and the bearer token.
	transport := &http.Transport{MaxIdleConnsPerHost: 4}
	base := strings.TrimSuffix(address, "/")
	switch {
	case where.Scheme == "unix" && where.Host == "" && where.Path != "":
		base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", where.Path)
		}
	case (where.Scheme == "http" || where.Scheme == "https") && where.Host != "":
	default:
		return nil, fmt.Errorf("the sidecar's URL is %q: http://host:port, https://host:port or unix:///path is expected", address)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &sidecar{base, bearer, &http.Client{Transport: transport, CheckRedirect: stay}}, nil
}

func (s *sidecar) send(ctx context.Context, method, path, key, accept string, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		content = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, s.base+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		request.Header.Set("Candidacy-Key", key)
	}
	if s.bearer != "" {
		request.Header.Set("Authorization", "Bearer "+s.bearer)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response, nil
}

// ask sends a request and reads its answer, within the time limit.
func (s *sidecar) ask(ctx context.Context, limit time.Duration, method, path, key string, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	response, err := s.send(ctx, method, path, key, "application/json", body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(data, into)
}

var errSilence = errors.New("the stream is silent")

// events reads the stream until it ends, or is silent for so long.
func (s *sidecar) events(ctx context.Context, silence time.Duration, path, key string, each func(name string, data []byte)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alarm := time.AfterFunc(silence, func() { cancel(errSilence) })
	defer alarm.Stop()
	response, err := s.send(ctx, http.MethodGet, path, key, "text/event-stream", nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	name, data := "", []string(nil)
	lines := bufio.NewReader(response.Body)
	for {
		line, err := readLine(lines)
		if err != nil {
			return err
		}
		alarm.Reset(silence)
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case field == "event":
			name = value
		case field == "data":
			data = append(data, value)
		case line == "":
			if data != nil {
				each(name, []byte(strings.Join(data, "\n")))
			}
			name, data = "", nil
		}
	}
}

// Views of long queues are longer, and are of no use here.
const longestLine = 1 << 16

// readLine reads a whole line, and keeps no more of it than can mean something to us.
func readLine(lines *bufio.Reader) (string, error) {
	var kept []byte
	for {
		piece, more, err := lines.ReadLine()
		if err != nil {
			return "", err
		}
		kept = append(kept, piece[:min(len(piece), longestLine-len(kept))]...)
		if !more {
			return string(kept), nil
		}
	}
}

func refusal(response *http.Response) error {
	var problem struct{ Code, Detail, Title string }
	data, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16))
	_ = json.Unmarshal(data, &problem) // Where it isn't a problem of the sidecar, the status has to do.
	if problem.Code == "" {
		problem.Code = "http_" + strconv.Itoa(response.StatusCode)
	}
	if problem.Detail == "" {
		problem.Detail = problem.Title
	}
	seconds, _ := strconv.ParseFloat(response.Header.Get("Retry-After"), 64)
	return &SidecarError{response.StatusCode, problem.Code, problem.Detail, time.Duration(seconds * float64(time.Second))}
}
