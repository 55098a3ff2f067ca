#if os(Linux)
import Foundation

/// The cost of a send, with and without plugins: allocations, nanoseconds, and instructions, which don't depend on the
/// machine's load. First on the caller's thread, then in all threads, with the work that plugins leave to the
/// background. A separate program counts them, so counting doesn't slow the other measurements.
enum CountBench {
    private static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(
        path: "errand-cost")
    /// Tests/Cost/check also uses this script. It runs the program under valgrind.
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().appending(
        path: "../Cost/instructions.py")

    static func run() async throws {
        if !hasValgrind { print("instructions are not counted: valgrind or python3 is missing") }
        try report(
            "a send", allocations: figures(of: program, ["plugins"]), times: figures(of: program, ["times"]),
            instructions: instructions("plugins"))
        let bytes = try figures(of: program, []).first { $0.name == "bytes" }?.value ?? .nan
        print("\(Rounds.pad("what a send asks of the heap", 44)) \(Rounds.number(bytes)) bytes")
        try report(
            "a call in all threads", allocations: [], times: figures(of: program, ["whole"]),
            instructions: instructions("whole"))
    }

    private static func report(_ title: String, allocations: [Figure], times: [Figure], instructions: [Figure]) {
        print("\(Rounds.pad(title, 44)) instructions  allocations         ns")
        for (place, time) in times.enumerated() {
            let count = place < instructions.count ? instructions[place].value : .nan
            let calls = place < allocations.count ? allocations[place].value : .nan
            let numbers = [count, calls, time.value].map(Rounds.number)
            print("\(Rounds.pad(time.name, 44))    \(numbers.joined(separator: "    "))")
        }
    }

    private typealias Figure = (name: String, value: Double)

    private static func instructions(_ mode: String) throws -> [Figure] {
        if !hasValgrind { return [] }
        return try figures(of: URL(filePath: "/usr/bin/env"), ["python3", script.path, program.path, mode])
    }

    private static var hasValgrind: Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["valgrind", "python3"].allSatisfy { tool in
            folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)") }
        }
    }

    private static func figures(of program: URL, _ arguments: [String]) throws -> [Figure] {
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
