import ErrandHTTP

/// The problem of a path that leaves out the path of its base URL, which other libraries would keep.
enum PathProblem {
    /// A sentence if the request's path starts at the origin though its base URL has a path that is not repeated there.
    static func problems(of request: some Request, _ settings: PipelineSettings) -> [String] {
        let path = request.path
        guard path.hasPrefix("/"), !path.hasPrefix("//"), let directory = try? settings.base(request.base).directory,
            directory != "/", !"\(path)/".hasPrefix(directory), isBuilt(request)
        else { return [] }
        return [
            "the path “\(path)” starts with a slash, so “\(directory.dropLast())” of the base URL is left out;"
                + " write “\(path.drop { $0 == "/" })” to keep it"
        ]
    }

    /// Whether Core makes the URL, rather than the request itself.
    private static func isBuilt(_ request: some Request) -> Bool {
        (try? request.httpRequest()).flatMap(\.self) == nil
    }
}
