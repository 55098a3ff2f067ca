public import Errand
import ErrandEssentials

extension Agent {
    /// Returns a response's lines as they arrive, decoded with the charset of its `Content-Type`. See
    /// ``Errand/HTTPBody/lines(upTo:)``.
    ///
    /// ```swift
    /// for try await line in agent.lines(Call(.get, "jobs/7/log")) { print(line) }
    /// ```
    ///
    /// The request is sent when you start reading, within an activity of the kind ``Errand/ActivityKind/stream`` that
    /// `cancelAll` can cancel. In charsets other than UTF-8, an invalid line throws
    /// ``StreamingError/Code/decodingFailed``. UTF-16 isn't supported.
    public func lines<R: Request>(
        _ request: R, upTo limit: Int = ElementLimit.standard, options: CallOptions = CallOptions()
    ) -> ElementStream<String> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "lines") }) { response in
            LineReader(limit: limit, charset: response?.charsetLabel)
        }
    }

    /// Returns JSON values, one per line of a response, decoded with the request's or the agent's decoder. See
    /// ``Errand/HTTPBody/jsonLines(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonLines(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonLines<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONLineSplitter(limit: limit) }
    }

    /// Returns the values of a response that is a JSON text sequence. See
    /// ``Errand/HTTPBody/jsonSequence(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonSequence(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonSequence<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONSequenceSplitter(limit: limit) }
    }

    /// Returns the elements of a response that is a JSON array, each as soon as it's complete. See
    /// ``Errand/HTTPBody/jsonElements(of:decoder:upTo:)``.
    ///
    /// ```swift
    /// for try await user in agent.jsonElements(Call(.get, "users"), of: User.self) { print(user.name) }
    /// ```
    public func jsonElements<R: Request, Value: Decodable & Sendable>(
        _ request: R, of type: Value.Type = Value.self, upTo limit: Int = ElementLimit.standard,
        options: CallOptions = CallOptions()
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        values(request, options) { JSONArraySplitter(limit: limit) }
    }

    private func values<R: Request, Value: Decodable & Sendable>(
        _ request: R, _ options: CallOptions,
        splitter: @escaping @Sendable () -> ElementSplitter
    ) -> ElementStream<Value> where R.Output == HTTPBody {
        ElementStream(.request { StreamSession(request, on: self, options, unit: "values") }) { response in
            (response.map { ElementDecoding($0) } ?? ElementDecoding(JSONDecoder())).reader(splitter())
        }
    }
}
