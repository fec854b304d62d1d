package cli

import (
	"bufio"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/facts/model"
	"github.com/rackrate/rackrate/internal/front/app"
	"github.com/rackrate/rackrate/internal/front/cli/render"
	"github.com/rackrate/rackrate/internal/front/say"
)

func newModel(d *deps) *cobra.Command {
	return d.family("model", groupManage, newModelAdd(d), newModelList(d), newModelShow(d), newModelRemove(d))
}

// modelAddOptions are the flags of model add.
type modelAddOptions struct{ app.AddRequest }

// AddFlags declares the flags.
func (o *modelAddOptions) AddFlags(f *pflag.FlagSet, s *say.Speaker) {
	f.StringVar(&o.Name, "name", "", s.Text("option.model-name"))
	f.StringVar(&o.Revision, "revision", "", s.Text("option.model-revision"))
	f.BoolVar(&o.Force, "force", false, s.Text("option.model-force"))
	called(f, "name", "NAME")
	called(f, "revision", "REV")
}

func newModelAdd(d *deps) *cobra.Command {
	cmd := d.command("model_add", "add hf:ORG/NAME | ms:ORG/NAME | FILE", "")
	opts := &modelAddOptions{}
	opts.AddFlags(cmd.Flags(), d.Say)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) (err error) {
		if opts.From, err = oneModel(args); err != nil {
			return err
		}
		k, err := d.AddModel(cmd.Context(), opts.AddRequest)
		if err != nil {
			return err
		}
		return d.show(&render.Model{Known: k})
	})
	return cmd
}

func newModelList(d *deps) *cobra.Command {
	cmd := d.command("model_list", "list [TEXT]", "")
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return problem.New(problem.Input, "cli.extra_argument", problem.Args{"Argument": args[1], "Command": cmd.CommandPath()})
		}
		list := d.ListModels(strings.Join(args, ""))
		if err := d.show(&render.Models{List: list, Top: d.top()}); err != nil {
			return err
		}
		if err := d.ModelFaults(); err != nil {
			return err
		}
		if len(list.Found) == 0 {
			return problem.New(problem.NoMatch, "model.none", problem.Args{"Text": list.Text})
		}
		return nil
	})
	return cmd
}

func newModelShow(d *deps) *cobra.Command {
	cmd := d.command("model_show", "show NAME", "")
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = d.completeModels
	cmd.RunE = d.settled(func(cmd *cobra.Command, args []string) error {
		name, err := oneModel(args)
		if err != nil {
			return err
		}
		k, err := withModel(cmd.Context(), d, func() (*app.Known, error) { return d.ShowModel(name) })
		if err != nil {
			return err
		}
		return d.show(&render.Model{Known: k})
	})
	return cmd
}

func newModelRemove(d *deps) *cobra.Command {
	cmd := d.command("model_remove", "remove NAME", "")
	cmd.Args = cobra.ArbitraryArgs
	cmd.ValidArgsFunction = d.completeModels
	cmd.RunE = d.settled(func(_ *cobra.Command, args []string) error {
		name, err := oneModel(args)
		if err != nil {
			return err
		}
		file, err := d.RemoveModel(name)
		if err != nil {
			return err
		}
		d.note(d.Say.Say("model.removed", say.Args{"Name": name, "File": file}))
		return nil
	})
	return cmd
}

func oneModel(args []string) (string, error) {
	if len(args) != 1 || args[0] == "" {
		return "", problem.New(problem.Input, "cli.wants_model", nil)
	}
	return args[0], nil
}

func (d *deps) completeModels(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return d.modelNames(), cobra.ShellCompDirectiveNoFileComp
}

// withModel reads what names a model. Where that is on a hub and was not brought in, a person who sits there is asked whether it
// should be, and it is read again; nothing leaves the machine unless they say yes.
func withModel[T any](ctx context.Context, d *deps, read func() (T, error)) (T, error) {
	v, err := read()
	ref := notHere(err)
	if ref == "" || !d.Interactive || !d.agreed(d.Say.Say("model.ask", say.Args{"Ref": ref})) {
		return v, err
	}
	k, err := d.AddModel(ctx, app.AddRequest{From: ref})
	if err != nil {
		return v, err
	}
	d.note(d.Say.Say("model.change."+string(k.Change), say.Args{"Name": k.Name}))
	for _, remark := range render.ModelRemarks(k, d.Say) {
		d.note(remark)
	}
	return read()
}

// notHere is the model of a hub that is all that is missing; "" where there is none, or something else is wrong as well.
func notHere(err error) (ref string) {
	if err == nil {
		return ""
	}
	for _, p := range problem.All(err) {
		text, _ := p.Args["Ref"].(string)
		if p.Code != model.CodeNotHere || ref != "" && ref != text {
			return ""
		}
		ref = text
	}
	return ref
}

// agreed asks a question whose answer is no unless somebody says yes.
func (d *deps) agreed(question string) bool {
	if _, err := d.Err.Write([]byte(question + " ")); err != nil {
		return false
	}
	answer, err := bufio.NewReader(d.In).ReadString('\n')
	if err != nil && answer == "" {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes", "是", "好":
		return true
	}
	return false
}
