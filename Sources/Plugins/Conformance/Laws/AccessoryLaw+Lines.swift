import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about the lines and numbers of an accessory's output.
extension AccessoryLaw {
    /// A call must leave the same lines in a log, whichever calls run before it or at the same time.
    static let lines = AccessoryLaw(
        name: "law: a call leaves the same lines in a log after other calls and at the same time",
        advice: """
            Keep the parts of an unfinished line for each `activity.id`, and write whole lines. Don't keep parts of a \
            call for the next call.
            """, share: 1
    ) { bench, _, patience in
        let all: [BenchScene] = [.lost, .good, .refused, .redirected, .cached, .good]
        var alone: [BenchScene: [[Substring]: Int]] = [:]
        for scene in all where alone[scene] == nil {
            let row = try await lines(bench, [scene])
            if try await lines(bench, [scene]) != row { return nil }
            // Skips an output that isn't a log of calls, such as a table, or a log that keeps only a few lines.
            if try await lines(bench, Array(repeating: scene, count: 6)) != row.mapValues({ $0 * 6 }) { return nil }
            alone[scene] = row
        }
        if alone.values.allSatisfy(\.isEmpty) { return nil }
        let expected = all.reduce(into: [:]) { sum, scene in sum.merge(alone[scene] ?? [:]) { $0 + $1 } }
        for isTogether in [false, true] {
            var missing: [[Substring]] = []
            // A busy machine, or a queue of the accessory, can delay lines.
            let isThere = try await bench.filters.becomes(within: 3) {
                let came = try await lines(bench, all, isTogether: isTogether, pause: patience)
                missing = expected.filter { came[$0.key, default: 0] < $0.value }.map(\.key)
                return missing.isEmpty
            }
            if isThere { continue }
            let line = missing.map { $0.joined(separator: " ") }.min() ?? ""
            return LawViolation(
                expected: "the line \(line.prefix(100).debugDescription), as of a call alone",
                came: "no such line \(isTogether ? "if six calls run at the same time" : "after other calls")")
        }
        return nil
    }

    /// - Parameter isTogether: Whether no call's request ends before all have been sent.
    private static func lines(
        _ bench: AccessoryBench, _ scenes: [BenchScene], isTogether: Bool = false,
        pause: Duration = .milliseconds(1)
    ) async throws -> [[Substring]: Int] {
        let (accessory, output) = try bench.make()
        let scene = BenchScene.transport()
        let (gate, count) = (Gate(isOpen: !isTogether), Counter())
        let transport = BenchTransport(reports: true) { request, _ in
            count.increment()
            try await gate.wait()
            return try await scene.send(request, options: TransportOptions())
        }
        let agent = bench.agent(transport, accessory)
        if isTogether {
            let tasks = scenes.map { scene in Task { _ = await scene.play(on: agent) } }
            // A cached call has no request.
            let sent = scenes.count { $0 != .cached }
            _ = try await bench.filters.becomes { count.value >= sent }
            gate.open()
            for task in tasks { await task.value }
        } else {
            for scene in scenes { _ = await scene.play(on: agent) }
        }
        let text = try await settled(bench, output, pause)
        var counts: [[Substring]: Int] = [:]
        for line in text.split(whereSeparator: { $0.isNewline }) {
            let words: [Substring] = line.split { !$0.isLetter }.filter { $0.count > 2 }
            if !words.isEmpty { counts[words, default: 0] += 1 }
        }
        return counts
    }

    /// Returns an output that doesn't change any more, because an accessory may write it in its own task.
    static func settled(
        _ bench: AccessoryBench, _ output: @Sendable () async throws -> String, _ pause: Duration
    ) async throws -> String {
        try await bench.filters.pause()
        var last = try await output()
        for _ in 0..<100 {
            try await Task.sleep(for: pause)
            for _ in 0..<20 { await Task.yield() }
            let text = try await output()
            if text == last { break }
            last = text
        }
        return last
    }

    /// Events of several activities from eight threads must leave the same words and sums as from one thread.
    static let threads = AccessoryLaw(
        name: "law: the activities of eight threads leave the same words and sums as those of one thread",
        advice: """
            Read and change your state within one `withLock`. Between two of them, another thread can change it.
            """, share: 1
    ) { bench, exchanges, patience in
        // A number that is rarely part of an output by chance.
        let (number, fewer) = (61, 37)
        let source = BenchForwarder(BenchWitness(), keepsEvents: true)
        let agent = bench.agent(source)
        for _ in 0..<number { _ = await BenchScene.good.play(on: agent) }
        let activities = Dictionary(grouping: source.events) { $0.activity.id }.values.sorted {
            $0[0].activity.start < $1[0].activity.start
        }
        func output(threads: Int, of count: Int) async throws -> (words: [Substring: Int], numbers: [Substring]) {
            let (accessory, output) = try bench.make()
            // Separate threads, because the threads of Swift's pool may all be busy with other work.
            let executors = (0..<threads).compactMap { _ in threads > 1 ? BenchExecutor() : nil }
            defer { for each in executors { each.end() } }
            await withTaskGroup { group in
                for lane in 0..<threads {
                    let executor = executors.isEmpty ? nil : executors[lane % executors.count]
                    group.addTask(executorPreference: executor) {
                        for index in stride(from: lane, to: count, by: threads) {
                            for each in activities[index] { accessory.activity(each.activity, did: each.event) }
                        }
                    }
                }
            }
            let text = try await settled(bench, output, patience)
            return (words(of: text), text.split { !$0.isNumber })
        }
        let (row, again) = (try await output(threads: 1, of: number), try await output(threads: 1, of: number))
        if row.words != again.words { return nil }
        // Shows which words and numbers come from every call. A time can be a multiple of the calls by chance.
        let few = try await output(threads: 1, of: fewer)
        for _ in 0..<6 {
            let crowd = try await output(threads: 8, of: number)
            // A log that keeps its last lines has other words after other orders, so only words of every call count.
            let lost = row.words.filter { word, count in
                few.words[word, default: 0] * number == count * fewer && crowd.words[word] != count
            }
            if let (name, count) = lost.min(by: { $0.key < $1.key }) {
                return LawViolation(
                    expected: "the word \(name) \(count) times, as from one thread",
                    came: "\(crowd.words[name] ?? 0) times")
            }
            guard row.numbers.count == few.numbers.count, crowd.numbers.count == row.numbers.count else { continue }
            for (index, text) in row.numbers.enumerated() {
                guard let sum = Int(text), sum > 0, sum % number == 0, few.numbers[index] == "\(sum / number * fewer)",
                    crowd.numbers[index] != text
                else { continue }
                return LawViolation(
                    expected: "\(sum) after \(number) activities, as from one thread", came: "\(crowd.numbers[index])")
            }
        }
        return nil
    }

    /// The output must not contain results of divisions by zero.
    static let numbers = AccessoryLaw(
        name: "law: the output contains only numbers, even for empty transfers and unknown sizes and times",
        advice: """
            A total can be zero or unknown, and two times can be equal. Check the divisor before you divide.
            """, share: 30
    ) { bench, exchanges, patience in
        let (accessory, output) = try bench.make()
        let run = LawRun(nil, accessories: [accessory], patience: patience, bench: bench.filters)
        for exchange in exchanges { _ = await run.play(exchange) }
        let tokens = try await output().lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "/" && $0 != "_" }
        guard let token = tokens.first(where: { ["nan", "inf", "infinity"].contains($0) }) else { return nil }
        return LawViolation(expected: "an output with numbers", came: "an output with \(token)")
    }
}
