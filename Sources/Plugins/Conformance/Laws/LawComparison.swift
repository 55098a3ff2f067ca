import Errand
import ErrandEssentials

/// Compares a call through the filter with the same call without the filter.
struct Comparison {
    let permissions: Permissions
    let exchange: LawExchange

    init(_ permissions: Permissions, _ exchange: LawExchange) {
        (self.permissions, self.exchange) = (permissions, exchange)
    }

    // MARK: Requests

    func difference(of came: LawTrace.Send, from expected: LawTrace.Send) -> LawViolation? {
        if came.http.method != expected.http.method {
            let isKnown = !LawVocabulary.foreignMethods.contains(expected.http.method)
            if !permissions.mayChange(.method) || !permissions.isListed && !isKnown {
                return different("the method", "\(expected.http.method)", "\(came.http.method)")
            }
        }
        if let violation = urlDifference(came.http.urlText, expected.http.urlText) { return violation }
        let isKnownToFilter = came.isTrusted && !LawVocabulary.isOwn(origin: came.origin)
        // A request to a trusted origin has its sensitive fields again.
        let withheld = isKnownToFilter && !expected.isTrusted ? exchange.headers.filter(\.isSensitive) : []
        if let violation = headerDifference(came.http.headers, expected.http.headers, HTTPHeaders(withheld)) {
            return violation
        }
        if came.body != expected.body, came.failure == nil || came.body != nil, let body = came.body {
            let isLost = !(expected.body ?? Data()).isEmpty && body.isEmpty
            if isLost || !permissions.mayChange(.body) {
                return different("the body", text(expected.body), text(body))
            }
        }
        if expected.http.body.isReplayable, !came.http.body.isReplayable, !came.http.body.isNone {
            return LawViolation(
                expected: "a body that can be read again, as before the filter, for redirects and retries",
                came: "a body that can be read once: give the new body a closure that opens the old one")
        }
        let rest: [(FilterEffect.Kind, String, String, String)] = [
            (.timeout, "the timeout", "\(expected.timeout)", "\(came.timeout)"),
            (.priority, "the priority", "\(expected.priority)", "\(came.priority)"),
            (.delivery, "the delivery", delivery(expected), delivery(came)),
            (.tags, "the tag of the request", mark(expected), mark(came)),
        ]
        for (kind, name, before, after) in rest where before != after && !permissions.mayChange(kind) {
            return different(name, before, after)
        }
        for (index, tag) in exchange.tags.enumerated() where !permissions.mayChange(.tags) {
            guard expected.tags.indices.contains(index), came.tags.indices.contains(index),
                expected.tags[index] != came.tags[index], !(tag.isAboutURL && permissions.mayChange(.url))
            else { continue }
            return different("the tag \(tag.name)", expected.tags[index], came.tags[index])
        }
        // A request that several calls share has the task-local values of one call, or no values.
        if came.hasTaskValue != expected.hasTaskValue, !permissions.mayRespond {
            return LawViolation(
                expected: "the task-local values of the call, such as its trace",
                came: "a task without them: call `next` in the filter's own task or a child task")
        }
        if came.connects != expected.connects {
            return LawViolation(
                expected: "a transport that can open connections, as without the filter",
                came: "a wrapper that can't: conform it to ConnectingTransport if the inner transport does")
        }
        if came.isTrusted != expected.isTrusted, came.origin == expected.origin, !isKnownToFilter {
            return different("whether the origin is trusted", "\(expected.isTrusted)", "\(came.isTrusted)")
        }
        return nil
    }

    private func delivery(_ send: LawTrace.Send) -> String {
        send.isStreamed ? "a stream" : send.isSaved ? "a file" : "data"
    }
    private func mark(_ send: LawTrace.Send) -> String { send.hasTag ? "there" : "missing" }

    private func urlDifference(_ came: String, _ expected: String) -> LawViolation? {
        // Ignores a fragment, which isn't sent.
        let (came, expected) = (String(came.prefix { $0 != "#" }), String(expected.prefix { $0 != "#" }))
        if came == expected { return nil }
        let violation = different("the URL", expected, came)
        if !permissions.mayChange(.url) { return violation }
        if permissions.kinds.contains(.url) { return nil }
        // The filter may add to the URL, but the request's own path and query must stay in it byte for byte.
        let (path, items) = Self.parts(of: expected)
        let (newPath, newItems) = Self.parts(of: came)
        if !newPath.contains(path) { return violation }
        var rest = newItems[...]
        for item in items {
            guard let index = rest.firstIndex(of: item) else { return violation }
            rest = rest[(index + 1)...]
        }
        return nil
    }

    private static func parts(of url: String) -> (String, [Substring]) {
        let halves = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path =
            halves[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first ?? ""
        let own = path.hasPrefix("v1/") ? path.dropFirst(3) : path
        let query = halves.count == 2 ? halves[1].split(separator: "&", omittingEmptySubsequences: true) : []
        return (String(own), query)
    }

    private func headerDifference(
        _ came: HTTPHeaders, _ expected: HTTPHeaders, _ withheld: HTTPHeaders
    ) -> LawViolation? {
        var names: [HTTPHeaderName] = []
        for field in Array(expected) + Array(came) where !names.contains(field.name) { names.append(field.name) }
        for name in names where !permissions.mayChange(name) {
            let (before, after) = (Self.values(expected, name), Self.values(came, name))
            if before.isEmpty, after == Self.values(withheld, name) { continue }
            if before != after { return different("the field \(name)", text(before), text(after)) }
        }
        return nil
    }

    static func values(_ headers: HTTPHeaders, _ name: HTTPHeaderName) -> [String] {
        headers.filter { $0.name == name }.map { "\($0.value.debugDescription)\($0.isSensitive ? " (sensitive)" : "")" }
    }

    // MARK: Results

    /// Compares a call with the call without the filter. If the filter repeated the request, the result may also be the
    /// same as for the reply to the last attempt, unless the repetition lost a success without `.repeats`. `play` plays
    /// an exchange without the filter.
    func difference(
        of came: LawTrace, from expected: LawTrace, play: (LawExchange) async -> LawTrace
    ) async -> LawViolation? {
        guard let violation = difference(of: came, from: expected) else { return nil }
        let repetitions = min(came.sends.count - expected.sends.count, exchange.replies.count - 1)
        guard repetitions > 0, permissions.mayRepeat(exchange.method), !exchange.replies.contains(where: \.isRedirect)
        else { return violation }
        var last = exchange
        last.replies.removeFirst(repetitions)
        let repeated = await play(last)
        let isDeclared = permissions.declaresRepeats(of: exchange.method)
        if expected.outcome.isSuccess, !repeated.outcome.isSuccess, !isDeclared { return violation }
        return difference(of: came, from: repeated) == nil ? nil : violation
    }

    func difference(of came: LawTrace, from expected: LawTrace) -> LawViolation? {
        if permissions.mayRespond, came.sends.allSatisfy(\.isDetached) { return nil }
        switch (expected.outcome, came.outcome) {
        case (.endless, _): return nil
        case (_, .endless):
            return LawViolation(expected: "\(expected.outcome)", came: "\(came.outcome)")
        case (.response(let before), .response(let after)):
            if permissions.kinds.contains(.response) { return nil }
            let (sent, plain) = (came.sends.last, expected.sends.last)
            return responseDifference(
                after, before, sent: sent?.http.urlText, isSameRequest: sent != nil && sent?.image == plain?.image)
        case (.response, .failure(let error)):
            // A filter that declares its errors may reject a response, but must not cancel a call.
            if permissions.kinds.contains(.error), !error.isCancellation { return nil }
            // The filter may turn a success into a status that the request doesn't accept.
            let isRefused = exchange.isStrict && LawTrace.name(of: error) == "unacceptableStatus"
            if isRefused, permissions.kinds.contains(.response) { return nil }
            return LawViolation(expected: "\(expected.outcome)", came: "\(error)")
        case (.failure(let error), .response(let response)):
            // The filter may turn a status that the request doesn't accept into a success.
            if permissions.kinds.contains(.response), LawTrace.name(of: error) == "unacceptableStatus" { return nil }
            // A response that the filter gives by itself can replace a failure, but not a cancellation.
            if permissions.mayRespond, !error.isCancellation { return nil }
            return LawViolation(expected: LawTrace.name(of: error), came: "a response with status \(response.status)")
        case (.failure(let before), .failure(let after)):
            // The server cancels the call, so a call that the filter ends before it sends the request isn't cancelled.
            if permissions.kinds.contains(.error), before.isCancellation, !came.isReached { return nil }
            if before.isCancellation != after.isCancellation {
                return LawViolation(expected: "\(expected.outcome)", came: "\(type(of: after)): \(after)")
            }
            if permissions.kinds.contains(.error) || before.isCancellation { return nil }
            // The request's own check can reject a response that the filter gives by itself.
            if permissions.mayRespond, isOwnRejection(after) { return nil }
            // If the filter turns the status into a success, the request's own check rejects the response later.
            let isReplaced = permissions.kinds.contains(.response) && LawTrace.name(of: before) == "unacceptableStatus"
            if isReplaced, exchange.isRefused, after is BenchError { return nil }
            let isRefused = exchange.isStrict && LawTrace.name(of: after) == "unacceptableStatus"
            if isRefused, before is BenchError, permissions.kinds.contains(.response) { return nil }
            return errorDifference(after, before)
        }
    }

    /// Whether the request itself rejected a response: by its status, or by its check.
    private func isOwnRejection(_ error: any Error) -> Bool {
        exchange.isStrict && LawTrace.name(of: error) == "unacceptableStatus"
            || exchange.isRefused && error is BenchError
    }

    private func errorDifference(_ came: any Error, _ expected: any Error) -> LawViolation? {
        let (before, after) = (LawTrace.name(of: expected), LawTrace.name(of: came))
        if before != after { return LawViolation(expected: "the error \(before)", came: after) }
        guard let old = expected as? ErrandError, let new = came as? ErrandError else { return nil }
        if old.message != new.message { return different("the error's message", old.message, new.message) }
        if old.response?.status != new.response?.status {
            return different("the error's response", "\(old.response?.status ?? 0)", "\(new.response?.status ?? 0)")
        }
        return nil
    }

    private func responseDifference(
        _ came: LawTrace.Response, _ expected: LawTrace.Response, sent url: String?, isSameRequest: Bool
    ) -> LawViolation? {
        // A response that the filter stored or revalidated may differ.
        if !isSameRequest, permissions.mayRespond { return nil }
        let parts = [
            ("the status", "\(expected.status)", "\(came.status)"),
            ("the URL", permissions.mayChange(.url) ? url ?? expected.url : expected.url, came.url),
            ("the HTTP version", expected.version ?? "nil", came.version ?? "nil"),
            ("the source", expected.source, came.source),
        ]
        for (name, before, after) in parts where before != after { return different(name, before, after) }
        var names: [HTTPHeaderName] = []
        for field in expected.headers where !names.contains(field.name) { names.append(field.name) }
        for name in names {
            let (before, after) = (Self.values(expected.headers, name), Self.values(came.headers, name))
            if before != after { return different("the field \(name)", text(before), text(after)) }
        }
        // A filter may read a stream of known length, for example to check it, even if the caller then drops it.
        let isRead =
            exchange.isDropped && expected.body == nil && exchange.replies.contains { $0.body.data == came.body }
        if expected.body != came.body, !isRead { return different("the body", text(expected.body), text(came.body)) }
        if expected.length != came.length {
            return different("the length of the body", "\(expected.length ?? -1)", "\(came.length ?? -1)")
        }
        return nil
    }

    // MARK: Texts

    private func different(_ name: String, _ expected: String, _ came: String) -> LawViolation {
        LawViolation(expected: "\(name): \(expected)", came: came)
    }

    private func text(_ values: [String]) -> String { values.isEmpty ? "none" : values.joined(separator: ", ") }

    private func text(_ data: Data?) -> String {
        guard let data else { return "none" }
        return data.isEmpty ? "no bytes" : String(decoding: data.prefix(200), as: UTF8.self).debugDescription
    }
}
