package corpus

// NewXZGuard is for the tests alone.
var NewXZGuard = newXZGuard
