import Errand
import ErrandEssentials
import ErrandTesting

/// Laws about the values of fields in the attempts of a call.
extension FilterLaw {
    /// The law that a field has one value in a call, or a new value in each attempt, as declared.
    public static let attempts = FilterLaw(
        "attempts",
        "law: a field that a filter chooses for a call is the same in all its attempts, and others are new",
        advice: """
            Keep a value that belongs to the call, such as a request's ID or an experiment's arm, with `exchange.once`. \
            A filter whose value belongs to each request runs in the stage `.hop`. To declare which of them a field is, \
            list `.headersPerCall` or `.headersPerAttempt` in `effects:`.
            """,
        share: 10,
        exchanges: { [LawExchange.random([.get, .get, .post, .put], &$0)] }
    ) { bench, exchanges in
        for exchange in exchanges {
            let (run, permissions) = try bench.subject(inside: [LawRenewal()])
            let control = LawRun(nil, inside: [LawRenewal()], patience: bench.patience, bench: bench.filters)
            var calls: [AttemptedCall] = []
            // Calls with one request are between the others, so that a filter that counts requests doesn't begin each
            // call with the same value.
            let delay = permissions.namesPerAttempt.isEmpty ? Duration.zero : .seconds(2)
            for course in AttemptedCall.Course.order {
                let each = course.exchange(like: exchange, delay: delay)
                let (plain, came) = (await control.play(each).sends, await run.play(each).sends)
                calls.append(AttemptedCall(course: course, plain: plain, sends: came))
            }
            let names = calls.reduce(into: Set<HTTPHeaderName>()) { $0.formUnion($1.names) }
            for name in names.sorted(by: { $0.rawName < $1.rawName }) {
                let violation: LawViolation? =
                    if permissions.namesPerCall.contains(name) {
                        inconstant(name, calls)
                    } else if permissions.namesPerAttempt.contains(name) {
                        stale(name, calls)
                    } else {
                        chosenAgain(name, calls)
                    }
                if let violation { return violation }
            }
        }
        return nil
    }

    private static func inconstant(_ name: HTTPHeaderName, _ calls: [AttemptedCall]) -> LawViolation? {
        for call in calls {
            let values = call.values(of: name)
            guard let first = values.first, let other = values.first(where: { $0 != first }) else { continue }
            return LawViolation(
                expected: "the field \(name) with one value in all requests of a call \(call.course.rawValue)",
                came: "\(text(first)), and then \(text(other))")
        }
        let firsts = calls.compactMap { $0.values(of: name).first }
        guard firsts.count > 4, Set(firsts).count == 1, let value = firsts.first else { return nil }
        return LawViolation(
            expected: "the field \(name) with other values in other calls",
            came: "\(text(value)) in \(firsts.count) calls")
    }

    private static func stale(_ name: HTTPHeaderName, _ calls: [AttemptedCall]) -> LawViolation? {
        for call in calls where call.course != .refused {
            let values = call.values(of: name)
            for (before, after) in zip(values, values.dropFirst()) where before == after && !after.isEmpty {
                return LawViolation(
                    expected: "the field \(name) with a new value in each request of a call \(call.course.rawValue)",
                    came: "\(text(after)) twice")
            }
        }
        return nil
    }

    /// A value that returns in a later call, after another value, isn't a nonce, a date or a counter, but a choice.
    private static func chosenAgain(_ name: HTTPHeaderName, _ calls: [AttemptedCall]) -> LawViolation? {
        let firsts = calls.compactMap { $0.values(of: name).first }
        let isChoice = firsts.indices.contains { index in
            firsts[..<index].lastIndex(of: firsts[index]).map { $0 < index - 1 && firsts[index - 1] != firsts[index] }
                ?? false
        }
        // A credential may change before a repetition, for example if the server refuses it.
        if !isChoice || calls.contains(where: { $0.isSecret(name) }) { return nil }
        for call in calls {
            let values = call.values(of: name)
            guard let first = values.first(where: { !$0.isEmpty }),
                let other = values.first(where: { $0 != first && !$0.isEmpty })
            else { continue }
            return LawViolation(
                expected: "the field \(name) with one value in a call \(call.course.rawValue), because the value isn't "
                    + "new in each request",
                came: "\(text(first)), and then \(text(other))")
        }
        return nil
    }

    private static func text(_ values: [String]) -> String {
        values.isEmpty ? "none" : values.joined(separator: ", ").debugDescription
    }
}

/// A call with several attempts.
private struct AttemptedCall {
    enum Course: String {
        case plain, repeated = "that an earlier filter repeats", redirected = "that is redirected"
        case refused = "that a later filter repeats after a 401"

        static let order: [Course] = [
            .repeated, .plain, .redirected, .plain, .refused, .plain, .repeated, .plain, .redirected, .plain,
        ]

        func exchange(like exchange: LawExchange, delay: Duration) -> LawExchange {
            var copy = exchange
            copy.isRepeated = self == .repeated
            copy.replies =
                switch self {
                case .plain: [LawReply()]
                case .repeated: [LawReply(503, delay: delay), LawReply()]
                case .redirected:
                    [LawReply(307, headers: [.location: "\(LawVocabulary.origin)/v1/there"], delay: delay), LawReply()]
                case .refused: [LawReply(401), LawReply()]
                }
            return copy
        }
    }

    let course: Course
    let plain: [LawTrace.Send]
    let sends: [LawTrace.Send]

    /// The fields that the filter sets.
    var names: Set<HTTPHeaderName> {
        guard let expected = plain.first else { return [] }
        return sends.reduce(into: []) { names, send in
            names.formUnion(
                send.http.headers.map(\.name).filter { !expected.http.headers.contains($0) && $0 != .contentLength })
        }
    }

    /// The values in the requests to the first request's origin.
    func values(of name: HTTPHeaderName) -> [[String]] {
        sends.filter { $0.origin == sends[0].origin }.map { $0.http.headers.values(of: name) }
    }

    func isSecret(_ name: HTTPHeaderName) -> Bool {
        Redaction().isSecret(name.rawName)
            || sends.contains { $0.http.headers.contains { $0.name == name && $0.isSensitive } }
    }
}

/// Repeats a request after a 401, as a filter that renews a credential does.
private struct LawRenewal: Filter {
    var stages: FilterStages { .hop }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        let count = exchange.stagedWorkCount
        let first = try await next(exchange)
        if first.status != 401 { return first }
        await exchange.discardStagedWork(after: count)
        await exchange.discard(first)
        return try await next(exchange)
    }
}
