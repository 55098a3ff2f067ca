#if os(Linux)
import Foundation

/// The cost of a send on the caller's thread, with and without plugins: allocations, nanoseconds, and instructions,
/// which don't depend on the machine's load. A separate program counts them, so counting doesn't slow the other
/// measurements.
enum CountBench {
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
        path: "errand-cost")
    /// Tests/Cost/check also uses this script. It runs the program under valgrind.
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../Cost/instructions.py")

    static func run() async throws {
        let allocations = try figures(of: program, ["plugins"])
        let times = try figures(of: program, ["times"])
        let instructions = hasValgrind ? try figures(of: URL(filePath: "/usr/bin/env"), python) : []
        if instructions.isEmpty { print("instructions are not counted: valgrind or python3 is missing") }
        print("\(Rounds.pad("a send", 44)) instructions  allocations         ns")
        for (place, row) in allocations.enumerated() {
            let count = place < instructions.count ? instructions[place].value : .nan
            let time = place < times.count ? times[place].value : .nan
            let numbers = [Rounds.number(count), Rounds.number(row.value), Rounds.number(time)]
            print("\(Rounds.pad(row.name, 44))    \(numbers.joined(separator: "    "))")
        }
        let bytes = try figures(of: program, []).first { $0.name == "bytes" }?.value ?? .nan
        print("\(Rounds.pad("what a send asks of the heap", 44)) \(Rounds.number(bytes)) bytes")
    }

    private static var python: [String] { ["python3", script.path, program.path] }

    private static var hasValgrind: Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["valgrind", "python3"].allSatisfy { tool in
            folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
        }
    }

    private static func figures(of program: URL, _ arguments: [String]) throws -> [(name: String, value: Double)] {
        let (process, output) = (Process(), Pipe())
        (process.executableURL, process.arguments, process.standardOutput) = (program, arguments, output)
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count == 2 ? Double(words[1]).map { (String(words[0]), $0) } : nil
        }
    }
}
#else
enum CountBench {
    static func run() async throws { print("on Linux only") }
}
#endif
