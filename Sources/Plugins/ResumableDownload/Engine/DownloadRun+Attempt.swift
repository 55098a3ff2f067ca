import Errand
import ErrandSupport

extension DownloadRun {
    /// One try: one request, or several side by side.
    @concurrent func attempt(_ plan: Plan) async throws -> Outcome {
        if file.plan.isDone, file.representation != nil {
            // All is here, of a run that ended before it could say so: one byte tells whether it is still right.
            try file.change { $1.reopen() }
        }
        meter.begin(at: file.plan.received, total: file.plan.total)
        let mayAsk = plan.usesRanges && isRepeatable
        guard file.plan.received > 0 else {
            if mayAsk && plan.segments > 1 { return try await probe(plan) }
            return try await transfer(part: 0, Inquiry(), plan)
        }
        guard mayAsk, file.representation?.validator != nil else {
            try startOver()
            return try await transfer(part: 0, Inquiry(), plan)
        }
        return try await segments(plan)
    }

    /// Asks for the first bytes: the answer says whether there may be several segments.
    private func probe(_ plan: Plan) async throws -> Outcome {
        let last = max(1, options.minimumSegment) - 1
        let outcome = try await transfer(part: 0, Inquiry(range: .init(first: 0, last: last)), plan)
        guard case .whole = outcome, !file.plan.isDone else { return outcome }
        return try await segments(plan)
    }

    /// Fetches what is missing, as several parts at once if that is asked for. A part that fails ends its own worker only:
    /// what it leaves is for the others, and the last one's failure is the try's.
    private func segments(_ plan: Plan) async throws -> Outcome {
        let wanted = plan.segments
        if wanted > 1 || file.plan.parts.count > 1 {
            try file.change { $1.split(into: wanted, minimum: max(1, options.minimumSegment)) }
        }
        let queue = PartQueue(file.plan)
        let workers = min(wanted, queue.count)
        if workers <= 1 { return try await worker(queue, plan) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            for _ in 0..<workers { group.addTask { try await worker(queue, plan) } }
            var failure: (any Error)?
            var refusal: HTTPResponse?
            var answer: HTTPResponse?
            while let result = await group.nextResult() {
                switch result {
                case .success(.whole(let response)): answer = response
                case .success(.refused(let response)): refusal = response
                case .success(.startOver(let reason, let ranges)):
                    group.cancelAll()
                    return .startOver(reason, ranges: ranges)
                case .failure(let error):
                    failure = failure ?? error
                    if !error.mayPass { group.cancelAll() }
                }
            }
            if file.plan.isDone, let answer { return .whole(answer) }
            if let failure { throw failure }
            if let refusal { return .refused(refusal) }
            throw ErrandError(.connectionLost, "no segment went on")
        }
    }

    /// Takes parts until none is left. A worker that fails puts its part back.
    private func worker(_ queue: PartQueue, _ plan: Plan) async throws -> Outcome {
        var answer: HTTPResponse?
        while let index = queue.take() {
            var requests = 0
            while !file.plan.parts[index].isDone {
                let part = file.plan.parts[index]
                let before = part.done
                // A server may send less than was asked for, but not ever so often, and not nothing.
                requests += 1
                if requests > 100 { throw ErrandError(.truncated, "the server sends the range in ever smaller pieces") }
                let last = part.end == file.plan.total ? nil : part.end.map { $0 - 1 }
                let inquiry = Inquiry(range: .init(first: part.next, last: last), known: file.representation)
                let outcome: Outcome
                do { outcome = try await transfer(part: index, inquiry, plan) } catch {
                    queue.putBack(index)
                    throw error
                }
                guard case .whole(let response) = outcome else {
                    queue.putBack(index)
                    return outcome
                }
                answer = response
                if file.plan.isDone { return .whole(response) }
                if file.plan.parts[index].done == before {
                    throw ErrandError(.truncated, "the server sent no byte of the range", response: response)
                }
            }
        }
        guard let answer else { throw ErrandError(.connectionLost, "nothing was left for this segment") }
        return .whole(answer)
    }

    /// One request and its body. `.whole` says that what was asked for came.
    private func transfer(part index: Int, _ inquiry: Inquiry, _ plan: Plan) async throws -> Outcome {
        var exchange = exchange
        if let range = inquiry.range {
            exchange.http.headers["Range"] = range.field
            if let validator = inquiry.known?.validator { exchange.http.headers["If-Range"] = validator.value }
        }
        let response = try await send(exchange)
        if !request.acceptableStatuses.contains(response.status), ![206, 412, 416].contains(response.status) {
            return .refused(response)
        }
        let verdict = Verdict(response, to: inquiry)
        do {
            switch verdict {
            case .refused: return .refused(response)
            case .complete:
                file.end(at: file.plan.received)
                response.body.cancel()
                return .whole(response)
            case .startOver(let reason, let ranges):
                response.body.cancel()
                return .startOver(reason, ranges: ranges)
            case .unusable(let reason): throw DownloadError(.unusableAnswer, reason)
            case .part(let end, let representation):
                if isUnwanted(response) { return .refused(response) }
                try accept(response, representation, isNew: inquiry.known == nil)
                let before = file.plan.parts[index].done
                do { try await receive(response, part: index, skipping: 0, upTo: end) } catch let error as ErrandError
                    where error.code == .invalidResponse
                    || error.code == .transportFailed && file.plan.parts[index].done == before
                {
                    // A body that is not what its head says: nothing of it is trusted.
                    response.body.cancel()
                    return .startOver("the part is not what it says: \(error.message)", ranges: false)
                }
            case .whole(let representation, let isSame):
                if isUnwanted(response) { return .refused(response) }
                if plan.segments > 1, file.plan.parts.count > 1 {
                    response.body.cancel()
                    return .startOver("the server sent the whole for one segment", ranges: isSame)
                }
                try await receiveWhole(response, representation, isSame, inquiry)
            }
            return .whole(response)
        } catch let error as DownloadError where error.code == .digestMismatch {
            return .startOver(error.message, ranges: true)
        } catch {
            response.body.cancel()
            throw error
        }
    }

    /// Whether Core will refuse it for its type: no reason to fetch it.
    private func isUnwanted(_ response: HTTPResponse) -> Bool {
        let accepted = request.acceptableContentTypes
        guard accepted != .any, let type = response.mediaType else { return false }
        return !accepted.contains(type)
    }

    /// The next answer's head; a pause interrupts the wait for it.
    private func send(_ exchange: Exchange) async throws -> HTTPResponse {
        let sending = Task { try await next(exchange) }
        let response = try await withTaskCancellationHandler {
            try await control.interruptible {
                if isRepeatable { sending.cancel() }
                return isRepeatable
            } _: {
                try await sending.value
            }
        } onCancel: {
            sending.cancel()
        }
        if !sending.isCancelled { return response }
        // The pause came between the head and its arrival here: the body was given up with its task.
        response.body.cancel()
        try Task.checkCancellation()
        throw DownloadPause()
    }
}
