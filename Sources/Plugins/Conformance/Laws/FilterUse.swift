public import Errand
import ErrandEssentials
import ErrandTesting

extension FilterConformance {
    /// Returns the declared effects that the filter doesn't show in any of the suite's exchanges. An effect that isn't
    /// needed hides mistakes, because the laws permit it.
    ///
    /// ```swift
    /// let unneeded = try await FilterConformance.unneededEffects(for: { MyFilter() }, effects: [.url])
    /// ```
    ///
    /// The exchanges are always the same. They contain all methods, failures, many statuses, streams, a failing host,
    /// and your samples. If your filter shows an effect in another situation, pass a sample.
    ///
    /// - Parameters:
    ///   - make: Creates a filter.
    ///   - effects: The effects to examine. If two effects permit the same change, the first one is returned.
    ///   - samples: Requests and responses to which the filter reacts. Defaults to an empty list.
    public static func unneededEffects(
        for make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect], samples: [LawExchange] = []
    ) async throws -> [FilterEffect] {
        let filters = FilterBench(make: make, secrets: [], gracePeriod: .seconds(5))
        return try await LawBench(filters: filters, effects: effects, samples: samples).unneededEffects()
    }

    static func useCase(of bench: LawBench, _ limit: Duration) -> [PluginConformanceCase] {
        if !bench.effects.contains(where: \.dependsOnExchange) { return [] }
        let name = "each declared change of a request or response occurs"
        return [
            PluginConformanceCase(name: name, limitation: nil, limit: limit) {
                let unneeded = try await bench.unneededEffects().filter(\.dependsOnExchange)
                guard let effect = unneeded.first else { return }
                throw ConformanceFailure(
                    expected: "an exchange in which the filter shows its effect \(effect)",
                    came: "none in \(bench.uses.count) exchanges and \(bench.samples.count) samples",
                    details: """
                        An effect that isn't needed hides mistakes. Remove it from `effects:`, or pass a sample in which \
                        the filter shows it.

                        """)
            }
        ]
    }
}

extension FilterEffect: CustomStringConvertible {
    /// The effect as Swift code.
    public var description: String {
        let list = names.map { LawCode.text($0.rawName) }.sorted().joined(separator: ", ")
        if let limit { return ".limits(\(limit))" }
        if isResponding { return ".responds" }
        if isWaiting { return ".waits" }
        if let repetition { return repetition.description }
        switch (kind, lifetime) {
        case (.headers?, .call?): return ".headersPerCall(\(list))"
        case (.headers?, .attempt?): return ".headersPerAttempt(\(list))"
        case (.headers?, nil): return ".headers(\(list))"
        case (let kind?, _): return ".\(kind)"
        case (nil, _): return ""
        }
    }

    /// Whether samples can show the effect. Other effects can depend on closures and on the state of the app, such as a
    /// network that is down.
    fileprivate var dependsOnExchange: Bool { kind != nil && kind != .error }
}

extension FilterEffect.Repetition: CustomStringConvertible {
    var description: String {
        let arguments = methods.map(LawCode.method).sorted() + (isEvenIfReceived ? ["evenIfReceived: true"] : [])
        return ".repeats(\(arguments.joined(separator: ", ")))"
    }
}

extension LawBench {
    /// Exchanges that make most filters act. They don't depend on a seed, so the result is the same each time.
    fileprivate var uses: [LawExchange] {
        var uses: [LawExchange] = []
        let text = LawBody.text("{\"law\":1}")
        for method in [HTTPMethod.get, .post, .put, .delete, .head, .patch] {
            var exchange = LawExchange(method)
            exchange.headers = ["X-Law-A": "1", .accept: "*/*"]
            if [.post, .put, .patch].contains(method) {
                exchange.body = text
                exchange.headers[.contentType] = "application/json"
            }
            uses.append(exchange)
        }
        let (get, post) = (uses[0], uses[1])
        let statuses = [
            200, 202, 204, 206, 304, 400, 401, 403, 404, 408, 409, 410, 412, 422, 425, 429, 500, 502, 503, 504,
        ]
        for status in statuses {
            for isStrict in [false, true] {
                var exchange = status.isMultiple(of: 2) ? get : post
                exchange.isStrict = isStrict
                let headers: HTTPHeaders = [
                    .contentType: "application/json", .entityTag: "\"law\"", .cacheControl: "max-age=60",
                    .wwwAuthenticate: "Bearer", .link: "</law>; rel=next",
                ]
                exchange.replies = [LawReply(status, headers: headers, body: text), LawReply(body: text)]
                uses.append(exchange)
            }
        }
        let failures: [ErrandError.Code] = [
            .connectionLost, .cannotConnect, .timedOut, .invalidResponse, .nameLookupFailed, .truncated,
            .insecureConnection,
        ]
        for failure in failures {
            for var exchange in [get, post] {
                exchange.replies = [LawReply(failure: failure), LawReply()]
                uses.append(exchange)
            }
        }
        var streamed = get
        (streamed.isStreamed, streamed.replies) = (true, [LawReply(body: .stream(["a", "b"]))])
        var uploaded = post
        uploaded.body = .stream(["law", "b"], isReplayable: true)
        var large = post
        large.body = .text(LawVocabulary.long)
        (uploaded.timeout, large.deadline) = (.seconds(5), .seconds(1_000))
        uses += [streamed, uploaded, large]
        for sample in samples {
            var stream = sample
            stream.isStreamed = true
            var strict = sample
            strict.isStrict = true
            uses += [sample, sample, stream, strict]
            for reply in [LawReply(401), LawReply(503), LawReply(failure: .connectionLost)] {
                var failing = sample
                failing.replies.insert(reply, at: 0)
                uses.append(failing)
            }
        }
        var random = LawRandom(seed: 7)
        for _ in 0..<60 {
            var exchange = LawExchange.random(&random)
            if !samples.isEmpty { exchange.resemble(random.pick(samples), onlyFields: false) }
            uses.append(exchange)
        }
        // A failing host, and a call after it.
        for _ in 0..<12 {
            var exchange = get
            exchange.replies = [LawReply(failure: .connectionLost)]
            uses.append(exchange)
        }
        uses.append(get)
        return uses
    }

    func unneededEffects() async throws -> [FilterEffect] {
        let (run, permissions) = try subject()
        let control = control()
        // The effects without which some exchange breaks a law.
        var rest = effects
        var seen: Set<FilterEffect> = []
        for exchange in uses {
            let expected = await control.play(exchange)
            let came = await run.play(exchange)
            for effect in rest where !seen.contains(effect) {
                let others = Permissions(effects.filter { $0 != effect }, traits: permissions.traits)
                if effect.isShown(by: came, insteadOf: expected, Comparison(others, exchange)) { seen.insert(effect) }
            }
            run.clock.pass(.seconds(1))
            if seen.count == Set(rest).count { return [] }
        }
        rest.removeAll { seen.contains($0) || $0.limit != nil }
        return rest
    }
}

extension FilterEffect {
    /// Whether a call with the filter differs in this effect from the same call without the filter.
    fileprivate func isShown(
        by came: LawTrace, insteadOf expected: LawTrace, _ comparison: Comparison
    ) -> Bool {
        if isWaiting { return came.elapsed > expected.elapsed }
        if isResponding { return came.sends.count < expected.sends.count || differs(came, expected, comparison) }
        if let repetition {
            return came.sends.count > expected.sends.count && repetition.includes(comparison.exchange.method)
        }
        guard let kind else { return false }
        if kind == .response || kind == .error { return differs(came, expected, comparison) }
        return zip(came.sends, expected.sends).contains { came, plain in
            switch kind {
            case .method: came.http.method != plain.http.method
            case .url: came.http.urlText != plain.http.urlText
            case .headers:
                names.contains { Comparison.values(came.http.headers, $0) != Comparison.values(plain.http.headers, $0) }
            case .body:
                came.body != plain.body || came.http.body.isReplayable != plain.http.body.isReplayable
                    || came.http.headers.values(of: .contentType) != plain.http.headers.values(of: .contentType)
            case .timeout: came.timeout != plain.timeout
            case .priority: came.priority != plain.priority
            case .delivery: came.isStreamed != plain.isStreamed || came.isSaved != plain.isSaved
            case .tags: came.hasTag != plain.hasTag || came.tags != plain.tags
            case .response, .error: false
            }
        } || came.sends.count > expected.sends.count && repeatsDifferently(came, kind)
    }

    private func differs(_ came: LawTrace, _ expected: LawTrace, _ comparison: Comparison) -> Bool {
        comparison.difference(of: came, from: expected) != nil
    }

    /// A further request, such as a request for a part, can show the effect, too.
    private func repeatsDifferently(_ came: LawTrace, _ kind: Kind) -> Bool {
        guard let first = came.sends.first else { return false }
        return came.sends.dropFirst().contains { send in
            switch kind {
            case .method: send.http.method != first.http.method
            case .url: send.http.urlText != first.http.urlText
            case .headers:
                names.contains { send.http.headers.values(of: $0) != first.http.headers.values(of: $0) }
            case .body: send.body != first.body
            case .timeout: send.timeout != first.timeout
            case .priority: send.priority != first.priority
            case .delivery: send.isStreamed != first.isStreamed || send.isSaved != first.isSaved
            case .tags: send.tags != first.tags
            case .response, .error: false
            }
        }
    }
}
