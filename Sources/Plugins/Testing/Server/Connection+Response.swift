import ErrandSupport

extension Connection {
    /// Sends a response with everything that was scripted for it; throws the end of the connection, if it ends.
    func respond(_ response: TestResponse, isHead: Bool, mayKeep: Bool) throws {
        var closes = !mayKeep
        if case .close = response.ending { closes = true }
        if let gate = response.gate { try wait(at: gate) }
        if response.delay > .zero { try wait(for: response.delay) }
        do { try write(ResponseEncoder(response: response, isHead: isHead, closes: closes)) } catch is CutReached {}
        switch response.cut?.action {
        case .close: throw Ending.close
        case .reset: throw Ending.reset
        case .stall: try stall()
        case nil: break
        }
        switch response.ending {
        case .closeSilently: throw Ending.close
        case .closeAtNextRequest:
            if input.isEmpty { try receive() }
            throw Ending.gone
        case .conversation(let body):
            budget = .max
            let conversation = TestConversation(self)
            do { try body(conversation) } catch let ending as Ending { throw ending } catch {}
            throw Ending.close
        case .close, .keep: if closes { throw Ending.close }
        }
    }

    /// One `send` for a small response without delay or fault, like a fast server.
    private func write(_ encoder: ResponseEncoder) throws {
        let response = encoder.response
        budget = .max
        if let cut = response.cut, cut.countsHead { budget = cut.bytes }
        for index in response.informational.indices {
            output.removeAll(keepingCapacity: true)
            encoder.informational(into: &output, index)
            try flush(response.pace?.includesHead == true ? response.pace : nil)
        }
        output.removeAll(keepingCapacity: true)
        encoder.head(into: &output)
        let isPlain = response.pace == nil && response.cut == nil && response.bodyGate == nil
        if isPlain, response.content.count <= 64 << 10 {
            encoder.body { output.append(contentsOf: $0) }
            return try flush(nil)
        }
        try flush(response.pace?.includesHead == true ? response.pace : nil)
        if let cut = response.cut, !cut.countsHead { budget = cut.bytes }
        var gated = response.bodyGate
        if let (after, gate) = gated, after == 0 {
            gated = nil
            try wait(at: gate)
        }
        var sent = 0
        try encoder.body { piece in
            var start = 0
            if let (after, gate) = gated, sent + piece.count >= after {
                start = after - sent
                try paced(piece.extracting(..<start), response.pace)
                sent = after
                gated = nil
                try wait(at: gate)
            }
            try paced(piece.extracting(start...), response.pace)
            sent += piece.count - start
        }
    }

    private func flush(_ pace: TestResponse.Pace?) throws {
        let bytes = output
        try paced(bytes.span, pace)
    }

    private func paced(_ bytes: Span<UInt8>, _ pace: TestResponse.Pace?) throws {
        guard let pace else { return bytes.isEmpty ? () : try send(bytes) }
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + pace.bytes)
            try send(bytes.extracting(position..<end))
            position = end
            if pace.interval > .zero, budget > 0 { try wait(for: pace.interval) }
        }
    }
}
