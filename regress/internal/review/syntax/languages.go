package syntax

import (
	"path"
	"strings"
)

// A language says how the texts of a family of languages are read.
type language struct {
	line     []string    // what begins a comment that ends with the line
	first    []string    // the same, at the beginning of a line alone
	block    [][2]string // beginning and end of a comment
	quotes   string      // bytes around a string that ends with the line at the latest
	long     []string    // what is around a string of several lines
	literal  bool        // a backslash in a string stands for itself
	words    string      // keywords, with a space before and behind each
	fold     bool        // keywords in any case
	markup   bool        // names and strings in <tags> alone have a colour
	inWords  string      // bytes of a word beside letters, digits and _
	unquoted string      // a quote behind one of these bytes begins no string
}

// languageOf returns the language of a file by its name, and false for another file.
func languageOf(file string) (*language, bool) {
	base := strings.ToLower(path.Base(file))
	ending := path.Ext(base)
	if ending == "" {
		ending = base
	}
	for _, f := range families {
		if strings.Contains(f.files, " "+ending+" ") {
			return &f.language, true
		}
	}
	return nil, false
}

// families has for each language the endings of its files, or their names if they have no ending, with
// spaces around each. A language serves many: a keyword of one that is a name in another gets the colour too.
var families = []struct {
	files string
	language
}{
	{" .c .h .cc .cpp .cxx .hh .hpp .hxx .ino .m .mm .cu .cl .glsl .hlsl .proto .thrift .zig .v .sv ", language{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`,
		words: " #if #ifdef #ifndef #else #elif #endif #define #undef #include #pragma #error #line #import alignas alignof asm auto" +
			" bool break case catch char class concept const consteval constexpr const_cast continue co_await co_return co_yield" +
			" decltype default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if" +
			" inline int long message mutable namespace new noexcept nullptr operator override private protected public register" +
			" reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template" +
			" this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile wchar_t while" +
			" int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t fn pub var comptime _Bool _Static_assert ",
		inWords: "#", unquoted: "0123456789",
	}},
	{" .go ", language{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, long: []string{"`"},
		words: " any bool break byte case chan comparable complex64 complex128 const continue default defer else error fallthrough false" +
			" float32 float64 for func go goto if import int int8 int16 int32 int64 interface map nil package range return rune select" +
			" string struct switch true type uint uint8 uint16 uint32 uint64 uintptr var ",
	}},
	{" .js .cjs .mjs .jsx .ts .cts .mts .tsx .java .kt .kts .scala .cs .swift .dart .groovy .gradle .php .json .json5 .jsonc .as .hx ", language{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, long: []string{`"""`, "`"},
		words: " abstract any as async await bool boolean break byte case catch char class const constructor continue debugger declare" +
			" decimal default defer delegate delete do double echo else enum event explicit export extends extension external false final" +
			" finally fixed float for foreach from fun func function get global goto guard if implements implicit import in init inline" +
			" inout instanceof int interface internal is keyof let lock long module namespace native never new nil null number object of" +
			" open operator out override package private protected protocol public readonly record ref require return sbyte sealed set" +
			" short sizeof stackalloc static string struct super suspend switch symbol synchronized this throw throws trait transient true" +
			" try type typealias typeof uint ulong undefined unknown unsafe ushort use using val var virtual void volatile when where" +
			" while with yield ",
		inWords: "$",
	}},
	{" .rs ", language{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, long: []string{`"`},
		words: " as async await bool box break char const continue crate dyn else enum extern f32 f64 false fn for i8 i16 i32 i64 i128 if" +
			" impl in isize let loop match mod move mut pub ref return self Self static str struct super trait true type u8 u16 u32 u64" +
			" u128 union unsafe use usize where while ",
	}},
	{" .py .pyi .pyx .pxd .bzl .star .build build workspace sconstruct .gyp ", language{
		line: []string{"#"}, quotes: `"'`, long: []string{`"""`, "'''"},
		words: " and as assert async await break case class continue def del elif else except False finally for from global if import in" +
			" is lambda match None nonlocal not or pass raise return self True try while with yield ",
	}},
	{" .rb .rake .gemspec .cr .ex .exs .jl .pl .pm .t .r .coffee .nim gemfile rakefile ", language{
		line: []string{"#"}, quotes: `"'`, long: []string{`"""`},
		words: " alias and begin break case class def defined defmodule defp do each else elseif elsif end ensure export extend false fn for" +
			" foreach function if import in include is let local loop macro module mutable my next nil none not or our package proc raise" +
			" redo require rescue retry return self struct sub super then true type undef unless until use using var when while yield" +
			" TRUE FALSE NULL ",
		inWords: "?!",
	}},
	{" .sh .bash .zsh .fish .ksh .mk .cmake .dockerfile .nix .tcl .awk .ps1 .env .bashrc .profile makefile dockerfile ", language{
		line: []string{"#"}, quotes: `"'`, unquoted: "$",
		words: " awk break case cd continue declare do done echo elif else endif endfunction esac eval exec exit export fi for foreach from" +
			" function if ifdef ifeq ifndef ifneq in include inherit let local proc read readonly return run select set shift source then" +
			" trap unset until while with FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR USER EXPOSE LABEL VOLUME ",
		inWords: "-",
	}},
	{" .yaml .yml .toml .ini .cfg .conf .properties .service .editorconfig .gitignore .tf .hcl ", language{
		line: []string{"#"}, first: []string{";"}, quotes: `"'`, words: " true false null yes no on off ", inWords: "-.", unquoted: ".-",
	}},
	{" .bas .bi .vb .vbs .cls .frm .bb .pb .mac ", language{
		line: []string{"'"}, first: []string{"rem "}, quotes: `"`, literal: true, fold: true,
		words: " abs and append as base beep boolean byref byte byval call case chain class close cls common const continue currency data date" +
			" declare def defdbl defint deflng defsng defstr dim do double each else elseif end endif enum erase eqv error event exit false" +
			" field fn for friend function get global gosub goto if imp implements in inkey input integer is kill let lib like line locate" +
			" long loop lset me mod module name namespace new next nothing not null on open option optional or output paramarray peek poke" +
			" preserve print private property public put random randomize read redim rem restore resume return rset run screen select set" +
			" shared single sleep static step stop string sub swap system then to true type until using variant wend while with write xor ",
		inWords: "$%&!#",
	}},
	{" .sql .psql .pgsql .ddl .dml .hql ", language{
		line: []string{"--"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, literal: true, fold: true,
		words: " add all alter and any array as asc between bigint binary boolean both by cascade case cast char character check collate column" +
			" commit constraint create cross current_date current_timestamp cube cursor database date decimal declare default delete desc" +
			" distinct double drop else end escape except exists explain false fetch first float following for foreign from full function" +
			" grant group grouping having if ilike in index inner insert int integer intersect interval into is join key language lateral" +
			" left like limit natural not null nulls numeric of offset on only or order outer over partition precision preceding primary" +
			" procedure range real recursive references replace returning returns revoke right rollback row rows schema select sequence" +
			" set smallint some table temporary text then time timestamp to trigger true truncate unbounded union unique unnest update" +
			" using values varchar view when where window with within ",
	}},
	{" .s .asm .nasm .ll .wat .d .mir ", language{
		line: []string{"#", ";", "//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"`,
		words: " define declare global constant private internal external type ret br call load store alloca getelementptr icmp phi add sub" +
			" mul void i1 i8 i16 i32 i64 ptr float double label section extern module func param result local get set ",
		inWords: ".@%$",
	}},
	{" .f .for .f77 .f90 .f95 .f03 .f08 ", language{
		line: []string{"!"}, first: []string{"c ", "* "}, quotes: `"'`, literal: true, fold: true,
		words: " allocatable allocate block call case character common complex contains continue cycle data deallocate dimension do double else" +
			" elseif end enddo endif exit external format function go goto if implicit in inout integer intent interface intrinsic kind" +
			" logical module none only open optional out parameter pointer precision print private procedure program public pure read real" +
			" recursive return save select stop subroutine target then to type use where while write ",
	}},
	{" .pas .pp .dpr .lpr .ada .adb .ads .mod .def .ob .st ", language{
		line: []string{"//", "--"}, block: [][2]string{{"{", "}"}, {"(*", "*)"}}, quotes: `'"`, literal: true, fold: true,
		words: " abort abs accept access all and array as at begin body boolean case char class const constant constructor declare delay" +
			" destructor div do downto else elsif end entry except exception exit exports file finally for from function generic goto if" +
			" implementation import in inherited initialization inline integer interface is label library limited longint loop mod module" +
			" new nil not object of operator or others out overriding package packed pointer pragma private procedure program property" +
			" protected raise range real record rem renames repeat return reverse select separate set shl shr string subtype tagged task" +
			" then to try type unit until use uses var virtual when while with within xor ",
	}},
	{" .cob .cbl .cpy ", language{
		line: []string{"*>"}, first: []string{"*"}, quotes: `"'`, literal: true, fold: true, inWords: "-",
		words: " accept add at call close compute data delete display divide division else end end-if end-perform end-read environment evaluate" +
			" exit fd file file-control from giving go identification if input input-output into is key linkage move multiply not of open" +
			" output perform pic picture procedure program-id read redefines rewrite run section select set spaces start stop string" +
			" subtract then thru times to until unstring using value varying when working-storage write zero zeros ",
	}},
	{" .hs .lhs .elm .purs .lua .idr .agda .vhd .vhdl ", language{
		line: []string{"--"}, block: [][2]string{{"{-", "-}"}, {"--[[", "]]"}}, quotes: `"`, long: []string{"[["},
		words: " and as break case class data default deriving do else elseif end false for forall foreign function goto hiding if import in" +
			" infix infixl infixr instance let local module newtype nil not of or qualified repeat return then true type until where while" +
			" True False Nothing Just architecture begin component downto entity generic is library map others out port process signal to" +
			" use variable when ",
		inWords: "'",
	}},
	{" .ml .mli .fs .fsi .fsx .sml ", language{
		line: []string{"//"}, block: [][2]string{{"(*", "*)"}}, long: []string{`"`}, inWords: "'",
		words: " and as assert begin class constraint do done downto else end exception external false for fun function functor if in include" +
			" inherit initializer lazy let match method module mutable namespace new object of open or private rec sig struct then to true" +
			" try type val virtual when while with yield ",
	}},
	{" .lisp .lsp .el .scm .ss .rkt .clj .cljs .cljc .edn ", language{
		line: []string{";"}, block: [][2]string{{"#|", "|#"}}, long: []string{`"`}, inWords: "-*+!?<>=/:",
		words: " and begin case cond cons declare def defclass defgeneric define defmacro defmethod defn defpackage defparameter defstruct defun" +
			" defvar do dolist dotimes else fn if in-package lambda let let* letrec loop nil not ns or progn quote recur require set! setf" +
			" setq t true false unless use when ",
	}},
	{" .erl .hrl .tex .sty .ltx .bib .ps .eps .prolog .mat ", language{
		line: []string{"%"}, inWords: `\`,
		words: ` \begin \end \section \subsection \chapter \item \documentclass \usepackage \newcommand \label \ref \cite \textbf \emph` +
			" after begin case catch end fun if of receive try when def dup exch ",
	}},
	{" .css .scss .sass .less .styl ", language{
		line: []string{"//"}, block: [][2]string{{"/*", "*/"}}, quotes: `"'`, inWords: "-@",
		words: " @charset @extend @font-face @for @if @import @include @keyframes @layer @media @mixin @page @supports @use and auto from" +
			" important inherit initial none not only to unset ",
	}},
	{" .html .htm .xhtml .xml .xsl .xslt .xsd .svg .vue .svelte .astro .jsp .erb .ejs .hbs .rss .atom .plist .wsdl .csproj .pom .fo .dita .docbook ", language{
		block: [][2]string{{"<!--", "-->"}}, markup: true, long: []string{`"`, "'"}, inWords: "-:.",
	}},
}
