package aws

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/connect/feed"
)

// keys gives the keys that requests are signed with, new ones where they have run out.
type keys struct {
	source  string
	profile string // empty where they come from elsewhere
	static  sdk.CredentialsProvider
	options []func(*config.LoadOptions) error // of AWS's own search for keys, where they are not static
}

// names are where keys may stand, for whoever has none.
var names = []string{"AWS_ACCESS_KEY_ID + AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "~/.aws/credentials", "~/.aws/config"}

// findKeys says where the keys are, in the order of AWS's own tools: a profile that the settings name, the environment, the
// role of a container, the profile of the environment or the default one; those of the machine this runs on only where
// the settings say so, because asking for them takes seconds where there are none.
// Source: https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html
func findKeys(c feed.Config, w feed.World, home string) (*keys, error) {
	k := &keys{source: c.Name}
	named := c.Options["profile"]
	id, secret := w.Env("AWS_ACCESS_KEY_ID"), w.Env("AWS_SECRET_ACCESS_KEY")
	if named == "" && id != "" && secret != "" {
		k.static = credentials.NewStaticCredentialsProvider(id, secret, w.Env("AWS_SESSION_TOKEN"))
		return k, nil
	}
	enabled := imds.ClientDisabled
	if c.Options["imds"] == "true" {
		enabled = imds.ClientEnabled
	}
	file := func(variable, name string) []string {
		if path := w.Env(variable); path != "" {
			return []string{path}
		} else if w.Home == "" {
			return []string{}
		}
		return []string{filepath.Join(w.Home, ".aws", name)}
	}
	shared, configured := file("AWS_SHARED_CREDENTIALS_FILE", "credentials"), file("AWS_CONFIG_FILE", "config")
	k.options = []func(*config.LoadOptions) error{
		config.WithRegion(home), config.WithSharedCredentialsFiles(shared), config.WithSharedConfigFiles(configured),
		config.WithEC2IMDSClientEnableState(enabled),
	}
	inContainer := w.Env("AWS_WEB_IDENTITY_TOKEN_FILE") != "" || w.Env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") != "" ||
		w.Env("AWS_CONTAINER_CREDENTIALS_FULL_URI") != ""
	if named == "" && inContainer {
		return k, nil
	}
	profile := cmp.Or(named, w.Env("AWS_PROFILE"), "default")
	found, err := config.LoadSharedConfigProfile(context.Background(), profile, func(o *config.LoadSharedConfigOptions) {
		o.CredentialsFiles, o.ConfigFiles = shared, configured
	})
	switch missing := (config.SharedConfigProfileNotExistError{}); {
	case err == nil && speaks(&found):
		k.profile = profile
		k.options = append(k.options, config.WithSharedConfigProfile(profile))
		return k, nil
	case named != "":
		return nil, c.Bad("profile", named, "~/.aws/config [profile …]")
	case err != nil && !errors.As(err, &missing):
		return nil, noKeys(c.Name, profile).At(c.File, c.Line)
	case enabled == imds.ClientEnabled:
		return k, nil
	}
	return nil, feed.NoCredentials(c.Name, names...)
}

// speaks says whether a profile says how to come by keys.
func speaks(c *config.SharedConfig) bool {
	return c.Credentials.HasKeys() || c.RoleARN != "" || c.CredentialProcess != "" || c.WebIdentityTokenFile != "" ||
		c.SSOSession != nil || c.SSOStartURL != "" || c.CredentialSource != ""
}

// noKeys is the problem of keys that cannot be had. What AWS's library says about it may hold parts of the files it read, so
// it is not repeated.
func noKeys(source, profile string) *problem.Error {
	return problem.New(problem.Input, "feed.aws_keys", problem.Args{"Source": source, "Profile": profile})
}

// open gets the keys ready; ctx serves what they need later too.
func (k *keys) open(ctx context.Context) (sdk.CredentialsProvider, error) {
	provider := k.static
	if provider == nil {
		loaded, err := config.LoadDefaultConfig(ctx, k.options...)
		if err != nil {
			return nil, noKeys(k.source, k.profile)
		}
		provider = loaded.Credentials
	}
	provider = guarded{provider, k}
	_, err := provider.Retrieve(ctx)
	return provider, err
}

// guarded is a provider of keys whose errors hold nothing of what it read.
type guarded struct {
	sdk.CredentialsProvider
	keys *keys
}

// Retrieve gives the keys.
func (g guarded) Retrieve(ctx context.Context) (sdk.Credentials, error) {
	found, err := g.CredentialsProvider.Retrieve(ctx)
	switch {
	case err == nil:
		return found, nil
	case ctx.Err() != nil:
		return sdk.Credentials{}, context.Cause(ctx)
	}
	return sdk.Credentials{}, noKeys(g.keys.source, g.keys.profile)
}

// emptyHash is the SHA-256 of a request without a body.
const emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// sign signs a request without a body.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
func sign(r *http.Request, provider sdk.CredentialsProvider, service, region string, now time.Time) error {
	found, err := provider.Retrieve(r.Context())
	if err != nil {
		return err
	}
	return v4.NewSigner().SignHTTP(r.Context(), found, r, emptyHash, service, region, now)
}
