"""What a language model keeps."""

from collections.abc import Sequence

from triplebeam.generate.language_model import Completion, LanguageModel, Prompt


class LanguageModelContract:
    """Fixture: ``model``, whose reply to each of ``prompts`` contains the last word of that prompt."""

    prompts: Sequence[Prompt] = tuple(
        Prompt(system="Repeat the last word.", user=f"Say {word}") for word in ("one", "two", "three", "four", "five")
    )

    def test_gives_a_completion_a_prompt_in_order(self, model: LanguageModel) -> None:
        """However many of them run at once."""
        completions = model.complete(self.prompts)
        assert len(completions) == len(self.prompts)
        for prompt, completion in zip(self.prompts, completions, strict=True):
            assert isinstance(completion, Completion)
            assert prompt.user.split()[-1] in completion.text.casefold()

    def test_no_prompts_give_no_completions(self, model: LanguageModel) -> None:
        """An empty batch is no error and no call."""
        assert model.complete([]) == []

    def test_counts_its_calls(self, model: LanguageModel) -> None:
        """A report adds them up."""
        (completion,) = model.complete(self.prompts[:1])
        assert completion.usage.calls == 1

    def test_has_a_name(self, model: LanguageModel) -> None:
        """It is kept with what the model made."""
        assert model.name
