import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about outputs that change while a call runs, such as a spinner or a count of running calls.
extension AccessoryLaw {
    /// A count of running calls must return to its old value after every kind of call and after many at the same time.
    static let balance = AccessoryLaw(
        name: "law: a count of running calls is back after every kind of call, and after many at the same time",
        advice: """
            Count up in `willStart` and down in `didStop`, which every call has, and do both on the event's thread: tasks \
            that you start for events run in any order.
            """, share: 1
    ) { bench, _, patience in
        guard let gauge = try await gauge(bench) else { return nil }
        let looks = Int(patience / .milliseconds(1)) * 40
        for scene in BenchScene.allCases {
            let (accessory, output) = try bench.make()
            let before = try await output()
            let agent = bench.agent(accessory)
            _ = await scene.play(on: agent)
            if try await bench.filters.becomes(within: looks, { try await gauge.isAt(before, in: output()) }) {
                continue
            }
            return LawViolation(
                expected: "\(gauge.part(of: before)) after a call (\(scene.rawValue)), as before it",
                came: gauge.part(of: try await output()))
        }
        let (accessory, output) = try bench.make()
        let (before, agents) = (try await output(), [bench.agent(accessory), bench.agent(accessory)])
        let scenes: [BenchScene] = [.good, .good, .refused, .lost, .redirected, .cached, .repeated, .good]
        await withTaskGroup { group in
            for index in 0..<240 {
                group.addTask { _ = await scenes[index % scenes.count].play(on: agents[index / 8 % 2]) }
            }
        }
        if try await bench.filters.becomes(within: looks, { try await gauge.isAt(before, in: output()) }) { return nil }
        return LawViolation(
            expected: "\(gauge.part(of: before)) after 240 calls of two agents at the same time, as before them",
            came: gauge.part(of: try await output()))
    }

    /// An indicator must be on as long as a call runs.
    static let presence = AccessoryLaw(
        name: "law: an indicator stays on as long as any call runs, also between its requests",
        advice: """
            Count the running calls instead of keeping a Boolean value: another call may still run when one ends. A \
            response isn't the end of a call; `didStop` is.
            """, share: 1
    ) { bench, _, patience in
        let gauge = try await gauge(bench)
        if gauge == nil, try await !isIndicator(bench) { return nil }
        let looks = Int(patience / .milliseconds(1)) * 4
        for first in ["one", "two"] {
            let (accessory, output) = try bench.make()
            let before = try await output()
            let gates = ["one": Gate(), "two": Gate()]
            let agent = bench.agent(
                BenchTransport { request, _ in
                    try await gates[request.url.lastPathComponent]?.wait()
                    return .text("ok", for: request)
                }, accessory)
            var tasks: [String: Task<Void, Never>] = [:]
            for name in ["one", "two"] {
                tasks[name] = Task {
                    _ = try? await agent.send(BenchRequest(path: name), options: CallOptions()).value.status
                }
                try await gates[name]?.reached()
            }
            gates[first]?.open()
            await tasks[first]?.value
            // An indicator can take a moment to change.
            for _ in 0..<looks { try await Task.sleep(for: .milliseconds(1)) }
            let text = try await output()
            for gate in gates.values { gate.open() }
            for task in tasks.values { await task.value }
            let isOff = gauge?.isAt(before, in: text) ?? (text == before)
            if isOff {
                return LawViolation(
                    expected: "an indicator that is on, because one of two calls still runs",
                    came: text.prefix(100).debugDescription)
            }
        }
        for scene in [BenchScene.redirected, .repeated] {
            let (accessory, output) = try bench.make()
            let before = try await output()
            let gate = Gate()
            let transport = BenchTransport { request, index in
                if index == 2 { try await gate.wait() }
                if index == 1, scene == .redirected {
                    return HTTPResponse(to: request, status: 302, headers: [.location: "good"])
                }
                return .text("ok", for: request)
            }
            let agent = bench.agent(transport, accessory)
            let task = Task { await scene.play(on: agent) }
            try await gate.reached()
            let isOn = try await bench.filters.becomes(within: 20 + looks) {
                let text = try await output()
                return !(gauge?.isAt(before, in: text) ?? (text == before))
            }
            gate.open()
            _ = await task.value
            if !isOn {
                return LawViolation(
                    expected: "an indicator that is on during the second request of a call (\(scene.rawValue))",
                    came: try await output().prefix(100).debugDescription)
            }
        }
        return nil
    }

    /// The place of an output that counts running calls, or tells whether a call runs.
    struct Gauge: Equatable {
        let index: Int
        let count: Int

        /// Whether the place has the same text as in another output. Always true if the output has a different form.
        func isAt(_ before: String, in text: String) -> Bool {
            let (old, new) = (Self.tokens(before), Self.tokens(text))
            return old.count != count || new.count != count || old[index] == new[index]
        }

        func part(of text: String) -> String {
            let tokens = Self.tokens(text)
            if tokens.count != count { return text.prefix(100).debugDescription }
            return tokens[max(0, index - 1)...index].joined(separator: " ")
        }

        static func tokens(_ text: String) -> [Substring] {
            text.prefix(4_096).split { !$0.isLetter && !$0.isNumber && $0 != "-" }
        }
    }

    /// Returns the place of the output that one running call changes from n to n + 1 and two running calls to n + 2, or
    /// from false to true, and that is as before when they have ended.
    private static func gauge(_ bench: AccessoryBench) async throws -> Gauge? {
        var found: Gauge?
        for _ in 0..<2 {
            let (accessory, output) = try bench.make()
            let gate = Gate()
            let transport = BenchTransport { request, _ in
                try await gate.wait()
                return .text("ok", for: request)
            }
            let agent = bench.agent(transport, accessory)
            let before = Gauge.tokens(try await output())
            var during: [[Substring]] = []
            var tasks: [Task<Void, Never>] = []
            for number in 1...2 {
                tasks.append(
                    Task { _ = try? await agent.send(BenchRequest(), options: CallOptions()).value.status })
                try await transport.arrived(number)
                let last = during.last ?? before
                _ = try await bench.filters.becomes(within: 20) { Gauge.tokens(try await output()) != last }
                during.append(Gauge.tokens(try await output()))
            }
            gate.open()
            for task in tasks { await task.value }
            _ = try await bench.filters.becomes(within: 50) { Gauge.tokens(try await output()) == before }
            let after = Gauge.tokens(try await output())
            guard ([after] + during).allSatisfy({ $0.count == before.count }) else { return nil }
            let index = before.indices.first { index in
                guard before[index] == after[index] else { return false }
                let (one, two) = (during[0][index], during[1][index])
                if let number = Int(before[index]) { return Int(one) == number + 1 && Int(two) == number + 2 }
                return before[index] == "false" && one == "true" && two == "true"
            }
            guard let index else { return nil }
            let gauge = Gauge(index: index, count: before.count)
            if let found, found != gauge { return nil }
            found = gauge
        }
        return found
    }
}
