"""How bash is told what a word may become: quoted as it has to be, since a project may name a file `$(reboot)`.

The shell takes words apart at `:` and `=`, and puts what it is told in place of the last part. So the line is taken
apart here, and of what a word may become only that part is told.
"""

import os

from click.shell_completion import BashComplete, CompletionItem, add_completion_class, split_arg_string

QUOTES = "\"'"


class Bash(BashComplete):
    """Takes the line up to the cursor."""

    source_template = r"""%(complete_func)s() {
    local line value is_folder=1
    COMPREPLY=()
    while IFS= read -r line; do
        value=${line#*,}
        case $line in
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
            plain,*)
                if [[ ${COMP_WORDS[COMP_CWORD]} != [\"\']* ]]; then
                    printf -v value %%q "$value"
                elif [[ $value == *[\"\'\$\`\\!]* ]]; then
                    continue  # within quotes nothing else can be quoted
                fi
                [[ $value == */ ]] || is_folder=
                COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_LINE=${COMP_LINE:0:COMP_POINT} COMP_WORDBREAKS=$COMP_WORDBREAKS %(complete_var)s=bash_complete "$1")
    [[ $is_folder ]] && compopt -o nospace
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is completed, and how that begins."""
        line = os.environ["COMP_LINE"]
        *words, last = split_arg_string(f"{line}x")  # so that there is a last one, whatever the line ends in
        begun = last[:-1]
        before = line.removesuffix(begun)
        is_quoted = before[-1:] in QUOTES or not line.endswith(begun)
        value = begun.partition("=")[2] if begun.startswith("-") else begun
        breaks = "" if is_quoted else os.environ["COMP_WORDBREAKS"]
        self._kept = max((value.rfind(one) + 1 for one in breaks), default=0)
        return words[1:], begun

    def format_completion(self, item: CompletionItem) -> str:
        """Return the line that tells of one: of what it is, and what it puts in."""
        return f"{item.type},{item.value[self._kept :]}"


def register() -> None:
    """Have this asked in place of click's own."""
    add_completion_class(Bash)
