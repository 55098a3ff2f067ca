import ErrandJSONValidation

import ErrandEssentials

/// Compares a JSON document with an example of what it should look like.
struct ValidateCommand {
    enum Outcome: Int32 {
        case valid = 0
        case invalid = 1
        /// A file that cannot be read, an example that is no JSON, or wrong arguments.
        case unusable = 2
    }

    static let usage = """
        usage: errand-validate EXAMPLE.json DOCUMENT.json

        Takes the shape of EXAMPLE.json and lists what in DOCUMENT.json does not fit it.
        Exit status: 0 if it fits, 1 if it does not, 2 if a file cannot be read or is no example.
        """

    let arguments: [String]
    /// What was found, a line each.
    var output: (String) -> Void
    var complaint: (String) -> Void

    func run() -> Outcome {
        if arguments == ["--help"] || arguments == ["-h"] {
            output(Self.usage)
            return .valid
        }
        guard arguments.count == 2, !arguments.contains(where: { $0.hasPrefix("-") }) else {
            complaint(Self.usage)
            return .unusable
        }
        guard let example = read(arguments[0]), let document = read(arguments[1]) else { return .unusable }
        let shape: JSONShape
        do { shape = try JSONShape(example: example) } catch {
            complaint("\(arguments[0]) is no example:")
            list(error, to: complaint)
            return .unusable
        }
        do { try shape.validate(document) } catch {
            list(error, to: output)
            return .invalid
        }
        return .valid
    }

    private func read(_ path: String) -> Data? {
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
            complaint("\(path) cannot be read")
            return nil
        }
    }

    private func list(_ error: JSONValidationError, to print: (String) -> Void) {
        for problem in error.problems { print("\(problem)") }
        if error.count > error.problems.count { print("… and \(error.count - error.problems.count) more") }
    }
}
