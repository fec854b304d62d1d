package say_test

import (
	"math"
	"testing"

	"github.com/rackrate/rackrate/internal/base/money"
	"github.com/rackrate/rackrate/internal/base/problem"
	"github.com/rackrate/rackrate/internal/base/unit"
	"github.com/rackrate/rackrate/internal/facts/catalog"
	"github.com/rackrate/rackrate/internal/front/say"
)

func usd(v float64) money.Amount { return money.Micros(int64(math.Round(v*1e6)), money.USD) }

func TestNumberForms(t *testing.T) {
	en, zh := say.For(say.English), say.For(say.Chinese)
	for _, c := range []struct{ got, want string }{
		{en.Money(usd(412.4)), "$412"},
		{en.Money(usd(99.999)), "$100"},
		{en.Money(usd(4.12)), "$4.12"},
		{en.Money(usd(0)), "$0.00"},
		{en.Money(usd(-3)), "−$3.00"},
		{en.Money(usd(1284000)), "$1,284,000"},
		{en.Money(usd(0.0012)), "$0.0012"},
		{en.Money(money.Micros(5e6, "SGD")), "SGD 5.00"},
		{zh.Money(money.Micros(3e8, money.CNY)), "¥300"},
		{en.MoneyRange(usd(310), usd(540)), "$310–540"},
		{en.MoneyRange(usd(310), usd(310.2)), "$310"},
		{en.UnitPrice(0.0412, money.USD), "$0.0412"},
		{en.UnitPrice(0.04, money.USD), "$0.0400"},
		{en.UnitPrice(math.NaN(), money.USD), "—"},
		{en.Hours(21), "21 h"},
		{en.Hours(72), "72 h"},
		{en.Hours(76.8), "3.2 d"},
		{zh.Hours(76.8), "3.2 天"},
		{en.Hours(0.5), "30 min"},
		{en.Hours(unit.FromSeconds(12)), "12 s"},
		{en.Hours(unit.FromSeconds(0.045)), "45 ms"},
		{en.HoursRange(22, 31), "22–31 h"},
		{en.Number(8210), "8,210"},
		{en.Number(math.Inf(1)), "—"},
		{en.Percent(0.714), "71%"},
		{en.Percent(0.001), "<1%"},
		{en.FLOP(1.6e21), "1.6e21 FLOP"},
		{en.Value(catalog.Spot), "spot"},
		{zh.Value(catalog.Spot), "抢占式"},
		{say.Maybe(en, unit.None[unit.Kilograms]()), "—"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestProblem(t *testing.T) {
	p := problem.New(problem.Input, "workload.unknown_key", problem.Args{"Key": "tokns", "Kind": "train"}).At("w.yaml", 3).With("tokens")
	if got, want := say.For(say.English).Problem(p), "w.yaml:3: no key called “tokns” for train (did you mean tokens?)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := say.For(say.Chinese).Problem(p), "w.yaml:3: train 没有名为 “tokns” 的键（您是否想输入 tokens？）"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPlural(t *testing.T) {
	en := say.For(say.English)
	if got := en.Say("plan.more", say.Args{"Count": 1}); got != "1 more plan: --top 0 shows all" {
		t.Error(got)
	}
	if got := en.Say("plan.more", say.Args{"Count": 1284}); got != "1,284 more plans: --top 0 shows all" {
		t.Error(got)
	}
}

func TestParseLang(t *testing.T) {
	for text, want := range map[string]say.Lang{"zh": say.Chinese, "zh_CN.UTF-8": say.Chinese, "zh-Hans": say.Chinese, "en_US": say.English, "C": say.English} {
		if got, ok := say.ParseLang(text); !ok || got != want {
			t.Errorf("%s: %v %v", text, got, ok)
		}
	}
	if _, ok := say.ParseLang("de_DE"); ok {
		t.Error("German is not spoken")
	}
}
