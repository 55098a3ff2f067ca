/// An activity that was started, with the task that carries it out.
@usableFromInline struct RunningActivity: Sendable {
    let activity: Activity
    let task: Task<Void, Never>
    @usableFromInline let result: ActivityResult
    /// Whether it has ended before the start returned.
    @usableFromInline let isDone: Bool

    /// Waits for did-stop; cancelling the task that waits cancels the activity.
    @usableFromInline func joined() async {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            activity.cancel(.task)
        }
    }
}
