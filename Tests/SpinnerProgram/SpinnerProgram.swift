import ErrandLoadingIndicatorLog

/// Shows a spinner as directed by standard input, one command per line. Tests check the resulting terminal screen.
///
/// `show LABEL`, `progress FRACTION RUNNING`, `print LINE`, `hide`
@main
struct SpinnerProgram {
    static func main() async {
        let spinner = TerminalSpinner()
        var state = LoadingState.hidden
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let rest = words.count > 1 ? words[1] : ""
            switch words.first {
            case "show": state = LoadingState(isShown: true, label: rest, running: 1)
            case "progress":
                let numbers = rest.split(separator: " ").compactMap { Double($0) }
                guard numbers.count == 2 else { continue }
                (state.fraction, state.running) = (numbers[0], Int(numbers[1]))
            case "hide": state = .hidden
            case "print":
                spinner.print(rest)
                continue
            default: continue
            }
            spinner.present(state)
        }
    }
}
